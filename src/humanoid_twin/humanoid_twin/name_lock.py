"""Locks of names that only one process of the virtual robot may use."""

import errno
import socket
from hashlib import sha256
from pathlib import Path


class NameInUseError(Exception):
    """A process holds the lock."""


class NameLock:
    """A lock from creation until `close`, or until the end of the process.

    It is an abstract socket, which is valid in one network namespace.
    """

    def __init__(self, what: str, name: str) -> None:
        """Lock the `name` of a thing of kind `what`. Raises NameInUseError."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            self._socket.bind(f"\0humanoid_twin.{what}.{name}")
        except OSError as error:
            self._socket.close()
            if error.errno == errno.EADDRINUSE:
                raise NameInUseError(f"{what} '{name}'") from error
            raise

    def close(self) -> None:
        """Release the lock."""
        self._socket.close()


def name_of(path: Path) -> str:
    """Return a short name of the place of a file: Linux limits addresses to 107 bytes."""
    place = path.parent.resolve() / path.name
    return sha256(bytes(place)).hexdigest()
