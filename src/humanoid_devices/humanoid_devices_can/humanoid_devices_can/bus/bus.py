"""A CAN bus through python-can: whole frames, and errors with remedies."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import can
from can.exceptions import CanError, CanInterfaceNotImplementedError, CanTimeoutError

from humanoid_control_common.machine.linux import LINUX
from humanoid_devices_can.bus.error_frames import BusEvent, ControllerState, transmit_overflow
from humanoid_devices_can.bus.slcan import SlcanBus
from humanoid_devices_can.errors import (
    AdapterLostError,
    CanBusError,
    InterfaceDownError,
    InterfaceError,
    QueueFullError,
    WireError,
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
        return QueueFullError(f"{settings}: the adapter's queue is full: are the motors powered?")
    return closed_problem(error, settings)


SEND_TIMEOUT: Final = 0.05  # [s] an adapter may take to accept a frame
LONGEST_PAYLOAD: Final = 8  # bytes, CAN 2.0
AT_ONCE: Final = 100  # frames that are received together
EMPTY_FRAME: Final = 47  # bits: standard, no data, no stuff bits, intermission (ISO 11898-1)
EMPTY_EXTENDED_FRAME: Final = 67  # the same with an identifier of 29 bits
LONGEST_FRAME: Final = 160  # bits: extended, 8 bytes, all possible stuff bits, intermission
EXTENDED_BITS: Final = 29  # of an identifier
STANDARD_BITS: Final = 11
CanFrame = tuple[int, bytes]  # identifier and payload

_STATES: Final = {
    can.BusState.ACTIVE: ControllerState.ACTIVE,
    can.BusState.PASSIVE: ControllerState.PASSIVE,
    can.BusState.ERROR: ControllerState.OFF,
}


@dataclass(frozen=True, slots=True)
class BusSettings:
    """The bus in python-can's terms."""

    interface: str
    channel: str
    bitrate: int  # [bit/s]
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    extended: bool = True  # frames have 29-bit identifiers, else 11-bit ones

    def __str__(self) -> str:
        return f"{self.interface} {self.channel}"

    @property
    def identifier_bits(self) -> int:
        """Return the length of an identifier."""
        return EXTENDED_BITS if self.extended else STANDARD_BITS


@dataclass(slots=True)  # not frozen: one is made for each frame
class DataFrame:
    """A data frame whose identifier has the length of the bus's family."""

    identifier: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class ErrorFrame:
    """A report of the controller about the bus."""

    event: BusEvent
    data: bytes

    @property
    def overflow(self) -> bool:
        """Return whether a frame was lost to a full transmit queue of the controller."""
        return transmit_overflow(self.event, self.data)


@dataclass(frozen=True, slots=True)
class InvalidFrame:
    """Input that is not a frame, or not one that a motor sends."""

    reason: str


Received = DataFrame | ErrorFrame | InvalidFrame


class Bus(Protocol):
    """One thread may receive while another sends."""

    def receive(self, timeout: float) -> Received | None:
        """Return the next frame, None after `timeout` [s]. Raises AdapterLostError."""

    def receive_all(self, timeout: float) -> Sequence[Received]:
        """Return what has arrived, AT_ONCE frames at least if there are more; else as `receive`."""
        found: list[Received] = []
        while len(found) < AT_ONCE and (received := self.receive(timeout)) is not None:
            found.append(received)
            timeout = 0.0
        return found

    def send(self, frame: CanFrame) -> None:
        """Pass a frame to the adapter.

        Raises QueueFullError, AdapterLostError, and WireError for an identifier that is too long.
        """

    def send_all(self, frames: Sequence[CanFrame]) -> int:
        """Pass frames to the adapter until its queue is full. Return how many it has taken.

        Never waits. Raises AdapterLostError, and WireError as `send` does.
        """
        for i, frame in enumerate(frames):
            try:
                self.send(frame)
            except QueueFullError:
                return i
        return len(frames)

    def state(self) -> ControllerState:
        """Return the controller's state, as far as the interface reports it."""

    def refused(self) -> int:
        """Return the number of frames accepted and then refused, as far as reported."""

    def close(self) -> None:
        """Release the interface. Never raises."""


OpenBus = Callable[[BusSettings], Bus]


class PythonCanBus(Bus):
    """A bus of python-can. See Bus."""

    def __init__(self, settings: BusSettings) -> None:
        """Open the bus. Raises InterfaceError that names what is missing."""
        self._settings = settings
        try:
            self._bus = _open(settings)
        except (CanError, NotImplementedError, ImportError, OSError, ValueError, TypeError) as e:
            raise InterfaceError(opening_problem(e, settings)) from e

    def receive(self, timeout: float) -> Received | None:
        """See Bus."""
        deadline = LINUX.clock() + timeout
        try:
            # Not `recv`: it measures time by the wall clock, which may be set meanwhile.
            message, left = None, timeout
            while True:
                message, _ = self._bus._recv_internal(left)  # noqa: SLF001
                if message is not None or left == 0.0:
                    break
                left = max(deadline - LINUX.clock(), 0.0)
        except (ValueError, IndexError) as error:  # slcan: a line that is not a frame
            return _no_frame(error)
        except (CanError, OSError) as error:
            raise closed_problem(error, self._settings) from error
        return None if message is None else _received(message, self._settings)

    def receive_all(self, timeout: float) -> Sequence[Received]:
        """See Bus."""
        if not isinstance(self._bus, SlcanBus):
            return super().receive_all(timeout)
        try:
            lines = self._bus.take_lines(timeout)
        except (CanError, OSError) as error:
            raise closed_problem(error, self._settings) from error
        found = [_of_line(line, self._bus, self._settings) for line in lines]
        return [it for it in found if it is not None]

    def send_all(self, frames: Sequence[CanFrame]) -> int:
        """See Bus."""
        if not isinstance(self._bus, SlcanBus):
            for i, frame in enumerate(frames):
                try:
                    self._send(frame, 0.0)
                except QueueFullError:
                    return i
            return len(frames)
        for identifier, _ in frames:
            check_identifier(identifier, self._settings)
        try:
            return self._bus.send_frames(frames, extended=self._settings.extended)
        except (CanError, OSError, ValueError) as error:
            raise sending_problem(error, self._settings) from error

    def send(self, frame: CanFrame) -> None:
        """See Bus."""
        self._send(frame, SEND_TIMEOUT)

    def _send(self, frame: CanFrame, timeout: float) -> None:
        identifier, payload = frame
        extended = self._settings.extended
        check_identifier(identifier, self._settings)
        message = can.Message(arbitration_id=identifier, data=payload, is_extended_id=extended)
        try:
            self._bus.send(message, timeout)
        except (CanError, OSError, ValueError) as error:
            raise sending_problem(error, self._settings) from error

    def state(self) -> ControllerState:
        """See Bus."""
        return _STATES[self._bus.state]

    def refused(self) -> int:
        """See Bus."""
        return getattr(self._bus, "refused", 0)

    def close(self) -> None:
        """See Bus."""
        with contextlib.suppress(CanError, OSError):  # gone already
            self._bus.shutdown()


class SharedCanBus(PythonCanBus):
    """A bus that another process has open too; closing it must not disturb that process."""

    def close(self) -> None:
        """See Bus. The adapter's channel, which the processes share, stays open."""
        with contextlib.suppress(CanError, OSError):
            getattr(self._bus, "leave", self._bus.shutdown)()


def _open(settings: BusSettings) -> Any:
    if settings.interface == "slcan":
        options: dict[str, Any] = dict(settings.options)
        return SlcanBus(settings.channel, bitrate=settings.bitrate, **options)
    return can.Bus(
        interface=settings.interface,
        channel=settings.channel,
        bitrate=settings.bitrate,
        ignore_config=True,  # the block's parameters are the only source
        **settings.options,
    )


def check_identifier(identifier: int, settings: BusSettings) -> None:
    """Raise WireError for an identifier that doesn't fit: an adapter would cut it."""
    bits = settings.identifier_bits
    if identifier >> bits:  # of a negative number as well
        raise WireError(f"identifier 0x{identifier:X} has more than the family's {bits} bits")


def foreign_frame(identifier: int, *, extended: bool, data: bool, settings: BusSettings) -> str:
    """Return why no motor on this bus sends such a frame; empty if one may."""
    if data and extended == settings.extended:
        return ""
    digits, found = (8, EXTENDED_BITS) if extended else (3, STANDARD_BITS)
    kind = f"{found} bits" if data else f"{found} bits and is a remote or FD frame"
    return (
        f"identifier 0x{identifier:0{digits}X} has {kind}; motors send data frames with "
        f"{settings.identifier_bits} bits"
    )


def _of_line(line: bytes | ValueError, bus: SlcanBus, settings: BusSettings) -> Received | None:
    """Return the content of a line of a serial adapter; None if the line is no frame."""
    if isinstance(line, ValueError):
        return _no_frame(line)
    letter, at = (b"T", 9) if settings.extended else (b"t", 4)
    try:
        # The frames that motors send, without the detour of a message.
        if line[:1] == letter:
            identifier, size = int(line[1:at], 16), int(line[at : at + 1])
            payload = bytes.fromhex(line[at + 1 : at + 1 + 2 * size].decode("ascii"))
            if size == len(payload) <= LONGEST_PAYLOAD:
                return DataFrame(identifier, payload)
        message = bus.message(line)
    except (ValueError, IndexError) as error:
        return _no_frame(error)
    return None if message is None else _received(message, settings)


def _no_frame(error: Exception) -> InvalidFrame:
    return InvalidFrame(f"the adapter sent no frame: {error}")


def _received(message: Any, settings: BusSettings) -> Received:
    identifier, payload = int(message.arbitration_id), bytes(message.data)
    if message.is_error_frame:
        return ErrorFrame(BusEvent(identifier & 0x3FF), payload)
    extended, data = message.is_extended_id, not (message.is_remote_frame or message.is_fd)
    if problem := foreign_frame(identifier, extended=extended, data=data, settings=settings):
        return InvalidFrame(problem)
    if len(payload) != message.dlc or message.dlc > LONGEST_PAYLOAD:
        return InvalidFrame(
            f"identifier 0x{identifier:08X} announces {message.dlc} bytes and has {len(payload)}"
        )
    return DataFrame(identifier, payload)
