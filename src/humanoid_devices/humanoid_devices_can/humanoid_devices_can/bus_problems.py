"""What python-can raises, in words that say what to do."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Final

import can
from can.exceptions import CanInterfaceNotImplementedError, CanTimeoutError

from humanoid_devices_can.errors import AdapterLostError, CanBusError, QueueFullError

if TYPE_CHECKING:
    from humanoid_devices_can.bus import BusSettings

_FULL: Final = frozenset({errno.ENOBUFS, errno.EAGAIN, errno.ETIMEDOUT})
_NO_SUCH: Final = frozenset({errno.ENODEV, errno.ENOENT, errno.ENXIO})


def _code(error: BaseException) -> int | None:
    """The errno of an error or of what caused it."""
    link: BaseException | None = error
    while link is not None:
        code = getattr(link, "error_code", None) or getattr(link, "errno", None)
        if isinstance(code, int):
            return code
        link = link.__cause__ or link.__context__
    return None


def _how_to_raise(settings: BusSettings) -> str:
    return f"ip link set {settings.channel} up type can bitrate {settings.bitrate} restart-ms 100"


def opening_problem(error: BaseException, settings: BusSettings) -> str:
    """Why the bus can't be opened, and what helps."""
    is_socketcan, code = settings.interface == "socketcan", _code(error)
    if settings.interface not in can.VALID_INTERFACES:
        known = ", ".join(sorted(can.VALID_INTERFACES))
        help_ = f"python-can has no such interface; it knows: {known}"
    elif isinstance(error, CanInterfaceNotImplementedError | ImportError):
        help_ = f"{error}: install the package or driver this interface needs"
    elif code in _NO_SUCH:
        how = "`ip link` lists the interfaces" if is_socketcan else "is the adapter plugged in"
        help_ = f"there is no '{settings.channel}' on this machine ({how})"
    elif code in (errno.EACCES, errno.EPERM):
        group = f"join the group that owns {settings.channel}, often dialout, and sign in again"
        forbidden = "CAN sockets are forbidden to this process (a container?)"
        help_ = "no permission: " + (forbidden if is_socketcan else group)
    elif code == errno.ENETDOWN:
        help_ = f"the interface is down: {_how_to_raise(settings)}"
    elif code == errno.EAFNOSUPPORT:
        help_ = "this kernel has no SocketCAN: modprobe can_raw, or use another interface"
    elif code == errno.EBUSY:
        help_ = "another program uses it"
    else:
        help_ = str(error) or type(error).__name__
    return f"{settings}: cannot be opened: {help_}"


def closed_problem(error: BaseException, settings: BusSettings) -> AdapterLostError:
    """The bus was open and can't be used any more."""
    if _code(error) == errno.ENETDOWN:
        return AdapterLostError(f"{settings}: the interface is down: {_how_to_raise(settings)}")
    return AdapterLostError(f"{settings}: the adapter is gone: plug it in again ({error})")


def sending_problem(error: BaseException, settings: BusSettings) -> CanBusError:
    """A frame was not sent: because the queue is full, or because the adapter is gone."""
    full = isinstance(error, CanTimeoutError | TimeoutError) or _code(error) in _FULL
    if full or "buffer full" in str(error) or "timeout" in str(error).lower():
        return QueueFullError(f"{settings}: the adapter's queue is full: are the motors powered?")
    return closed_problem(error, settings)
