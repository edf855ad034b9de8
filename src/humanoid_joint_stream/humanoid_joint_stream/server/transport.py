"""The server's addresses: a socket of this user, and TCP with TLS and a token."""

import hmac
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import grpc

from humanoid_control_common.configuration.config import read_secret, read_text
from humanoid_control_common.errors import ConfigError
from humanoid_joint_client.address import FOLDER_MODE, is_private
from humanoid_joint_client.rpc import LARGEST_MESSAGE, handler

# At the same time on one connection: further ones wait at their client. So a client that leaves its
# calls open takes nothing from another one, such as the lease's owner.
MOST_CALLS: Final = 64
MOST_CONNECTIONS: Final = 64  # from other machines; further ones are closed at once
HANDSHAKE: Final = 5000  # [ms] until the TLS of a connection stands, or it is closed
IDLE: Final = 10_000  # [ms] without a call, after which a connection from elsewhere is closed
LEAST_TOKEN: Final = 16  # characters
_PING: Final = 1000  # [ms] until a silent connection is tested, and longest time of the answer
# Updates beyond it wait at their client, which drops old ones, and not in the connection, where
# they would outlive their end time. gRPC's own window grows while a server is slower than a client.
WINDOW: Final = 8192  # [bytes] of a stream that are under way: 20 updates of Prime
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", LARGEST_MESSAGE),
    ("grpc.so_reuseport", 0),
    ("grpc.http2.lookahead_bytes", WINDOW),
    ("grpc.http2.bdp_probe", 0),
    ("grpc.keepalive_time_ms", _PING),
    ("grpc.keepalive_timeout_ms", _PING),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.http2.min_ping_interval_without_data_ms", _PING // 2),
    ("grpc.http2.max_ping_strikes", 0),
    ("grpc.max_concurrent_streams", MOST_CALLS),
)
Answers = dict[str, Callable[..., Any]]


async def local_server(answers: Answers, socket: Path) -> grpc.aio.Server:
    """Return a server on a socket that only this user reaches. Raises ConfigError."""
    folder = socket.parent
    with suppress(FileExistsError):
        folder.mkdir(mode=FOLDER_MODE, parents=True)
    if not is_private(folder):
        raise ConfigError(f"{folder}: expected a folder of this user with mode 0700")
    socket.unlink(missing_ok=True)  # of an earlier server: the lock of the shared memory is ours
    server = grpc.aio.server(handlers=(handler(answers),), options=_OPTIONS)
    server.add_insecure_port(f"unix:{socket}")
    return server


async def network_server(
    answers: Answers, listen: str, certificate: str, key: str, token: str
) -> tuple[grpc.aio.Server, int]:
    """Return a server on `listen`, HOST:PORT, with TLS and a token, and its port.

    `certificate`, `key` and `token` are files. Raises ConfigError if one of them is missing.
    """
    files = {"certificate_file": certificate, "key_file": key, "token_file": token}
    missing = [name for name, file in files.items() if not file]
    if missing:
        raise ConfigError(
            f"listen: '{listen}' needs TLS and a token, but {', '.join(missing)} is empty"
        )
    secret = read_secret(Path(token)).strip()
    if len(secret) < LEAST_TOKEN:
        raise ConfigError(f"{token}: a token of {len(secret)} characters, expected {LEAST_TOKEN}")
    pair = read_secret(Path(key)).encode(), read_text(Path(certificate)).encode()
    server = grpc.aio.server(
        handlers=(handler(answers),),
        interceptors=(_TokenCheck(secret),),
        options=(
            *_OPTIONS,
            ("grpc.max_allowed_incoming_connections", MOST_CONNECTIONS),
            ("grpc.server_handshake_timeout_ms", HANDSHAKE),
            ("grpc.max_connection_idle_ms", IDLE),
        ),
    )
    try:
        port = server.add_secure_port(listen, grpc.ssl_server_credentials([pair]))
    except RuntimeError as error:
        raise ConfigError(f"listen: '{listen}': {error}") from error
    return server, port


class _TokenCheck(grpc.aio.ServerInterceptor):  # type: ignore[misc] # grpc has no types
    """Refuses calls without the token, at once: gRPC would wait for the message of a unary one."""

    def __init__(self, token: str) -> None:
        self._expected = f"Bearer {token}".encode()

    async def intercept_service(self, continuation: Any, details: grpc.HandlerCallDetails) -> Any:
        """See grpc.aio.ServerInterceptor."""
        given = next((v for k, v in details.invocation_metadata if k == "authorization"), "")
        found = given if isinstance(given, bytes) else str(given).encode()
        answer = await continuation(details)
        if answer is None or hmac.compare_digest(found, self._expected):
            return answer
        return grpc.stream_stream_rpc_method_handler(_refuse)


async def _refuse(_: Any, context: grpc.aio.ServicerContext) -> None:
    await context.abort(grpc.StatusCode.UNAUTHENTICATED, "the token is missing or wrong")
