"""Find a port to listen on."""

import errno
import socket

from humanoid_control_common.errors import ConfigError

# Ports that are tried, the first included.
ATTEMPTS = 100
LAST_PORT = 65535
# Addresses under which a browser on this machine reaches the server as "localhost".
LOCAL_NAMES = frozenset({"127.0.0.1", "::1", "localhost"})
ANY_ADDRESS = frozenset({"", "0.0.0.0", "::"})


def free_port(host: str, first: int) -> int:
    """Return the first free port from `first` on; 0 leaves the choice to the system.

    Raises ConfigError: no address of this machine, a port that may not be used, all are taken.
    """
    for port in range(first, min(first + ATTEMPTS, LAST_PORT + 1)):
        if _is_free(host, port):
            return port
    raise ConfigError(f"ports {first} to {port} of {host} are all taken")


def _is_free(host: str, port: int) -> bool:
    try:
        addresses = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        for family, kind, protocol, _, address in addresses:
            with socket.socket(family, kind, protocol) as probe:
                # As the server does: a port in TIME_WAIT is free.
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind(address)
                probe.listen(1)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return False
        raise ConfigError(f"cannot listen on {host}:{port}: {error.strerror}") from error
    return True


def url(host: str, port: int) -> str:
    """Return the page's address; that of this machine if `host` is no single address."""
    name = "localhost" if host in LOCAL_NAMES | ANY_ADDRESS else host
    return f"http://[{name}]:{port}" if ":" in name else f"http://{name}:{port}"
