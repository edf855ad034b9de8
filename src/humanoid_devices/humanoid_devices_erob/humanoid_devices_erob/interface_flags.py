"""The promiscuous mode of a network interface: SOEM sets it and leaves it set."""

from __future__ import annotations

import fcntl
import logging
import socket
import struct
from typing import Final

logger = logging.getLogger(__name__)

_GET_FLAGS: Final = 0x8913  # SIOCGIFFLAGS, <linux/sockios.h>
_SET_FLAGS: Final = 0x8914  # SIOCSIFFLAGS
_PROMISCUOUS: Final = 0x100  # IFF_PROMISC, <linux/if.h>
_REQUEST: Final = struct.Struct("16sh22x")  # ifreq: name and flags


class PromiscuousMode:
    """As it was when this was made, to be restored. Raises OSError if there is no interface."""

    def __init__(self, interface: str) -> None:
        self._interface = interface
        self._found = self._flags() & _PROMISCUOUS

    def restore(self) -> None:
        """Set it as it was found. An interface that is gone is none of ours any more."""
        try:
            flags = self._flags()
            if flags & _PROMISCUOUS != self._found:
                self._call(_SET_FLAGS, flags & ~_PROMISCUOUS | self._found)
        except OSError as error:
            logger.warning(
                "promiscuous mode of network interface '%s' stays as the master set it: %s",
                self._interface,
                error,
            )

    def _flags(self) -> int:
        return self._call(_GET_FLAGS, 0)

    def _call(self, request: int, flags: int) -> int:
        signed = flags - 0x10000 if flags & 0x8000 else flags
        argument = _REQUEST.pack(self._interface.encode(), signed)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
            answer = fcntl.ioctl(any_socket, request, argument)
        return int(_REQUEST.unpack(answer)[1]) & 0xFFFF
