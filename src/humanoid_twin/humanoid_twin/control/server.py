"""The robot's end of the control channel: one JSON request a line, one JSON reply a line."""

import json
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISSOCK
from typing import Any, Final

from humanoid_control_common.errors import RobotError
from humanoid_twin.control.address import address_of
from humanoid_twin.errors import TwinError

_LONGEST_LINE: Final = 1 << 20  # [bytes]
MOST_CLIENTS: Final = 64
# Errors of malformed and impossible requests; Python's JSON has Infinity.
_REFUSED: Final = (
    ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError,
    struct.error, RobotError,
)  # fmt: skip
Json = Any  # a value of the module json


@dataclass(slots=True)
class _Client:
    """One connection: what it has sent and is not served, and what it has not taken."""

    socket: socket.socket
    requests: bytearray = field(default_factory=bytearray)
    replies: bytearray = field(default_factory=bytearray)


class ControlServer:
    """A unix stream socket with clients. Calls `execute` in the robot's loop.

    No client holds the robot up: the next request of a client is served when it has taken the reply
    before.
    """

    def __init__(self, path: Path | None, execute: Callable[[str, dict[str, Json]], Json]) -> None:
        """Listen at `path` (nowhere if None).

        Raises TwinError if that is impossible, a process listens there already, or a file of
        another kind is there.
        """
        self._path, self._execute = path, execute
        self._clients: dict[int, _Client] = {}
        self._listener: socket.socket | None = None
        if path is None:
            return
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            _remove_unused(path)
            with address_of(path) as address:
                self._listener.bind(address)
        except OSError as error:
            self._listener.close()
            raise TwinError(f"control channel '{path}': {error.strerror or error}") from error
        except TwinError:
            self._listener.close()
            raise
        self._listener.listen()
        self._listener.setblocking(False)

    def descriptors(self) -> list[int]:
        """Return the file descriptors to wait for until they are readable."""
        listening = [self._listener.fileno()] if self._listener else []
        return [*listening, *(it for it, client in self._clients.items() if not client.replies)]

    def unread(self) -> list[int]:
        """Return the file descriptors to wait for until they are writable."""
        return [it for it, client in self._clients.items() if client.replies]

    def serve(self, descriptor: int) -> None:
        """Serve one of `descriptors` that is readable, or one of `unread` that is writable."""
        if self._listener and descriptor == self._listener.fileno():
            self._accept(self._listener)
        elif descriptor in self._clients:
            client = self._clients[descriptor]
            if not (self._take(client) and self._answer(client)):
                self._clients.pop(descriptor).socket.close()

    def close(self) -> None:
        """Close all connections and remove the socket's file."""
        for client in self._clients.values():
            client.socket.close()
        if self._listener and self._path:
            self._listener.close()
            self._path.unlink(missing_ok=True)

    def _accept(self, listener: socket.socket) -> None:
        client, _ = listener.accept()
        client.setblocking(False)
        if len(self._clients) < MOST_CLIENTS:
            self._clients[client.fileno()] = _Client(client)
            return
        with suppress(OSError):
            client.sendall(_line({"error": f"{MOST_CLIENTS} clients are connected, the most"}))
        client.close()

    def _take(self, client: _Client) -> bool:
        """Receive requests, unless a reply waits. Return False if the client is gone."""
        if client.replies:
            return True
        try:
            received = client.socket.recv(1 << 16)
        except BlockingIOError:
            return True
        except ConnectionError:
            return False
        client.requests += received
        return bool(received) and len(client.requests) <= _LONGEST_LINE

    def _answer(self, client: _Client) -> bool:
        """Serve requests as long as the client takes the replies. Return False if it is gone."""
        while True:
            try:
                while client.replies:
                    del client.replies[: client.socket.send(client.replies)]
            except BlockingIOError:
                return True
            except ConnectionError:
                return False
            line, end, rest = client.requests.partition(b"\n")
            if not end:
                return True
            client.requests = rest
            client.replies += _line(self._reply(bytes(line)))

    def _reply(self, line: bytes) -> dict[str, Json]:
        try:
            request = json.loads(line)
            result = self._execute(request["command"], dict(request.get("arguments", {})))
        except _REFUSED as error:
            return {"error": f"{type(error).__name__}: {error}"}
        return {"result": result}


def _line(reply: dict[str, Json]) -> bytes:
    return json.dumps(reply).encode() + b"\n"


def _remove_unused(path: Path) -> None:
    """Remove the socket of a process that was killed. Raises TwinError if it is anything else."""
    try:
        if not S_ISSOCK(path.lstat().st_mode):
            raise TwinError(
                f"control channel '{path}' exists and is no socket; remove it, or give another path"
            )
    except FileNotFoundError:
        return
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            with address_of(path) as address:
                probe.connect(address)
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
            return
        except BlockingIOError:
            pass  # it listens, and has much to do
    raise TwinError(
        f"a process listens at the control channel '{path}'; end it, or give another path"
    )
