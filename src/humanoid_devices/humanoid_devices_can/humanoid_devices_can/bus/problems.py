"""A remedy for each error of the operating system and of an adapter."""

from __future__ import annotations

import errno
from typing import Final

import can
from can.exceptions import CanInterfaceNotImplementedError, CanTimeoutError

from humanoid_devices_can.bus.bus import BusSettings
from humanoid_devices_can.errors import (
    AdapterLostError,
    CanBusError,
    InterfaceDownError,
    QueueFullError,
)

_FULL: Final = frozenset({errno.ENOBUFS, errno.EAGAIN, errno.ETIMEDOUT})
_NO_SUCH: Final = frozenset({errno.ENODEV, errno.ENOENT, errno.ENXIO})


def _code(error: BaseException) -> int | None:
    """Return the errno of an error or of one of its causes."""
    link: BaseException | None = error
    while link is not None:
        code = getattr(link, "error_code", None) or getattr(link, "errno", None)
        if isinstance(code, int):
            return code
        link = link.__cause__ or link.__context__
    return None


def _link_up_command(settings: BusSettings) -> str:
    return f"ip link set {settings.channel} up type can bitrate {settings.bitrate} restart-ms 100"


def opening_problem(error: BaseException, settings: BusSettings) -> str:
    """Return why the bus can't be opened, and the remedy."""
    is_socketcan, code = settings.interface == "socketcan", _code(error)
    if settings.interface not in can.VALID_INTERFACES:
        known = ", ".join(sorted(can.VALID_INTERFACES))
        help_ = f"python-can has no such interface; available: {known}"
    elif isinstance(error, CanInterfaceNotImplementedError | ImportError | NameError):
        # NameError: python-can misses the functions of a library that it could not load
        help_ = f"{error}: install the package or driver this interface needs"
    elif code in _NO_SUCH:
        serial = "is the adapter plugged in? `ls -l /dev/serial/by-id` has the present names"
        how = "`ip link` lists the interfaces" if is_socketcan else serial
        help_ = f"there is no '{settings.channel}' on this machine ({how})"
    elif code in (errno.EACCES, errno.EPERM):
        group = f"join the group that owns {settings.channel}, often dialout, and sign in again"
        forbidden = "CAN sockets are forbidden to this process (a container?)"
        help_ = "no permission: " + (forbidden if is_socketcan else group)
    elif code == errno.ENETDOWN:
        help_ = f"the interface is down: {_link_up_command(settings)}"
    elif code == errno.EAFNOSUPPORT:
        help_ = "this kernel has no SocketCAN: modprobe can_raw, or use another interface"
    elif code == errno.EBUSY:
        help_ = "another program uses it"
    else:
        help_ = str(error) or type(error).__name__
    return f"{settings}: cannot be opened: {help_}"


def closed_problem(error: BaseException, settings: BusSettings) -> AdapterLostError:
    """Return the error of a bus that was open and can no longer be used."""
    if _code(error) == errno.ENETDOWN:
        return InterfaceDownError(
            f"{settings}: the interface is down: {_link_up_command(settings)}"
        )
    return AdapterLostError(f"{settings}: the adapter is gone: plug it in again ({error})")


def sending_problem(error: BaseException, settings: BusSettings) -> CanBusError:
    """Return why a frame was not sent: the queue is full, or the adapter is gone."""
    full = isinstance(error, CanTimeoutError | TimeoutError) or _code(error) in _FULL
    if full or "buffer full" in str(error) or "timeout" in str(error).lower():
        return full_queue(settings)
    return closed_problem(error, settings)


def full_queue(settings: BusSettings) -> QueueFullError:
    """Return the error of a frame for which the adapter has no room."""
    return QueueFullError(f"{settings}: the adapter's queue is full: are the motors powered?")
