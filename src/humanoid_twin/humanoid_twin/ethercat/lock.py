"""One ring per interface: two that answered the same frames would both be wrong."""

import errno
import socket

from humanoid_twin.ethercat.errors import RingError


class InterfaceLock:
    """Held from creation until `close`, or until the process ends, however it ends."""

    def __init__(self, interface: str) -> None:
        """Raises RingError if another ring answers on the interface."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        # A name without a file, known in this network namespace only, as the interface is.
        name = f"\0humanoid_twin.ring.{interface}"
        try:
            self._socket.bind(name)
        except OSError as error:
            self._socket.close()
            if error.errno == errno.EADDRINUSE:
                raise RingError(f"another ring answers on '{interface}'") from error
            raise

    def close(self) -> None:
        """Let go."""
        self._socket.close()
