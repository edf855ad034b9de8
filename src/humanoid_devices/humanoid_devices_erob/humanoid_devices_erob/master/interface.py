"""The network interface of the ring: existence, state, rights, promiscuous mode."""

import fcntl
import logging
import socket
import struct
from array import array
from contextlib import suppress
from typing import Final

from humanoid_control_common.machine.rights import (
    RAW_ETHERNET,
    MissingRightsError,
    require_capabilities,
)
from humanoid_devices_erob.errors import InterfaceError

_IFF_UP: Final = 0x1  # <linux/if.h>
_ETHTOOL, _GET_LINK = 0x8946, 0x0A  # SIOCETHTOOL, ETHTOOL_GLINK, <linux/ethtool.h>


def check_rights() -> None:
    """Check the rights. Raises InterfaceError with the command that grants missing ones."""
    try:
        require_capabilities("EtherCAT", RAW_ETHERNET)
    except MissingRightsError as error:
        raise InterfaceError(str(error)) from None


def check_interface(name: str) -> None:
    """Check the interface. Raises InterfaceError if it is missing, down or without a link.

    The socket calls ask the namespace of this process; /sys may be that of another one.
    """
    names = sorted(known for _, known in socket.if_nameindex())
    if name not in names:
        raise InterfaceError(
            f"network interface '{name}' does not exist; there is: {', '.join(names) or 'none'}. "
            "Set buses.ethercat.interface in the hardware file or pass ethercat_interface"
        )
    if not _request(name, _GET_FLAGS) & _IFF_UP:
        raise InterfaceError(f"network interface '{name}' is down: 'sudo ip link set {name} up'")
    if not _has_link(name):
        raise InterfaceError(
            f"network interface '{name}' has no link: is the cable of the ring plugged in at both "
            "ends and the first drive powered?"
        )


def _has_link(interface: str) -> bool:
    # The flag IFF_RUNNING comes a moment after the link. A driver that cannot tell is trusted.
    value = array("I", (_GET_LINK, 1))
    request = struct.pack("16sP16x", interface.encode(), value.buffer_info()[0])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket, suppress(OSError):
        fcntl.ioctl(any_socket, _ETHTOOL, request)
    return bool(value[1])


def claim_interface(name: str) -> socket.socket:
    """Claim the interface for this process until the socket is closed, or the process ends.

    Two masters on one ring take each other's frames. Raises InterfaceError.
    """
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        claim.bind(f"\0humanoid_control.ethercat.{name}")
    except OSError as error:
        claim.close()
        raise InterfaceError(
            f"another process drives the ring on '{name}' already: end it first"
        ) from error
    return claim


logger = logging.getLogger(__name__)

_GET_FLAGS: Final = 0x8913  # SIOCGIFFLAGS, <linux/sockios.h>
_SET_FLAGS: Final = 0x8914  # SIOCSIFFLAGS
_PROMISCUOUS: Final = 0x100  # IFF_PROMISC, <linux/if.h>
_REQUEST: Final = struct.Struct("16sh22x")  # ifreq: name and flags


class PromiscuousMode:
    """Saves an interface's promiscuous mode. Raises OSError if there is no interface."""

    def __init__(self, interface: str) -> None:
        self._interface = interface
        self._found = self._flags() & _PROMISCUOUS

    def restore(self) -> None:
        """Restore the mode; an interface that no longer exists is only logged."""
        try:
            flags = self._flags()
            if flags & _PROMISCUOUS != self._found:
                new = flags & ~_PROMISCUOUS | self._found
                _request(self._interface, _SET_FLAGS, new)
        except OSError as error:
            logger.warning(
                "promiscuous mode of network interface '%s' stays as the master set it: %s",
                self._interface,
                error,
            )

    def _flags(self) -> int:
        return _request(self._interface, _GET_FLAGS)


def _request(interface: str, request: int, flags: int = 0) -> int:
    """Get or set the flags of an interface; return them. Raises OSError."""
    signed = flags - 0x10000 if flags & 0x8000 else flags
    argument = _REQUEST.pack(interface.encode(), signed)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        answer = fcntl.ioctl(any_socket, request, argument)
    return int(_REQUEST.unpack(answer)[1]) & 0xFFFF
