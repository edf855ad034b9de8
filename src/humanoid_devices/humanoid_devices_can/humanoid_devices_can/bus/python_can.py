"""A CAN bus through python-can, and errors with remedies."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Sequence
from typing import Any, Final

import can
from can.exceptions import CanError, CanInterfaceNotImplementedError, CanTimeoutError
from can.interfaces.socketcan.constants import CAN_RAW_RECV_OWN_MSGS, SOL_CAN_RAW

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine
from humanoid_devices_can.bus.bus import (
    LONGEST_PAYLOAD,
    Bus,
    BusSettings,
    CanFrame,
    DataFrame,
    ErrorFrame,
    InvalidFrame,
    Received,
    check_identifier,
    foreign_frame,
)
from humanoid_devices_can.bus.confirmations import Confirmations
from humanoid_devices_can.bus.error_frames import BusEvent, ControllerState
from humanoid_devices_can.bus.serial_port import OpenPort, TtyPort
from humanoid_devices_can.bus.slcan import SlcanBus
from humanoid_devices_can.errors import (
    AdapterLostError,
    CanBusError,
    InterfaceDownError,
    InterfaceError,
    QueueFullError,
)

SEND_TIMEOUT: Final = 0.05  # [s] an adapter may take to accept a frame
STAMP_DIGITS: Final = 4  # of a time stamp behind a frame, which some serial adapters add
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


_STATES: Final = {
    can.BusState.ACTIVE: ControllerState.ACTIVE,
    can.BusState.PASSIVE: ControllerState.PASSIVE,
    can.BusState.ERROR: ControllerState.OFF,
}


class PythonCanBus(Bus):
    """A bus of python-can. See Bus.

    `open_port` opens the port of a serial adapter.
    """

    def __init__(
        self, settings: BusSettings, machine: Machine = LINUX, open_port: OpenPort = TtyPort
    ) -> None:
        """Open the bus. Raises InterfaceError that names what is missing."""
        self._settings, self._clock = settings, machine.clock
        self._confirmations, self._confirming = Confirmations(), False
        try:
            self._bus = _open(settings, machine, open_port)
        except (CanError, NotImplementedError, ImportError, OSError, ValueError, TypeError) as e:
            raise InterfaceError(opening_problem(e, settings)) from e

    @property
    def confirmed(self) -> float:  # type: ignore[override]  # it follows the adapter
        """See Bus."""
        return self._confirmations.until

    def set_confirming(self, on: bool) -> bool:
        """See Bus: a serial adapter answers a request, SocketCAN returns the frames sent."""
        if isinstance(self._bus, SlcanBus):
            if on:
                self._confirmations = Confirmations()
            return self._bus.confirm_by(self._confirmations)
        # Another thread may send: none of its frames is returned that was not noted before. Those
        # on their way still count as own ones afterwards, so nothing noted is forgotten.
        self._confirming = self._settings.interface == "socketcan"
        found = self._confirming and self._return_own_frames(on)
        self._confirming = on and found
        return found

    def ask(self) -> bool:
        """See Bus."""
        if not isinstance(self._bus, SlcanBus):
            return False
        try:
            self._bus.ask_version()
        except (CanError, OSError, ValueError) as error:
            raise sending_problem(error, self._settings) from error
        return True

    def receive(self, timeout: float) -> Received | None:
        """See Bus."""
        deadline = self._clock() + timeout
        if isinstance(self._bus, SlcanBus):
            return self._receive_line(self._bus, deadline)
        try:
            # Not `recv`: it measures time by the wall clock, which may be set meanwhile.
            message, left = None, timeout
            while True:
                message, _ = self._bus._recv_internal(left)  # noqa: SLF001
                if message is not None and self._confirms(message):
                    left = 0.0
                    continue
                if message is not None or left == 0.0:
                    break
                left = max(deadline - self._clock(), 0.0)
        except (CanError, OSError) as error:
            raise closed_problem(error, self._settings) from error
        return None if message is None else _received(message, self._settings)

    def _receive_line(self, bus: SlcanBus, deadline: float) -> Received | None:
        try:
            while (line := bus.take_line(max(deadline - self._clock(), 0.0))) is not None:
                if (found := _of_line(line, bus, self._settings)) is not None:
                    return found
        except (CanError, OSError) as error:
            raise closed_problem(error, self._settings) from error
        return None

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
        if noted := self._confirming:
            self._confirmations.given(frame, self._clock())
        try:
            self._bus.send(message, timeout)
        except (CanError, OSError, ValueError) as error:
            if noted:
                self._confirmations.refused()
            raise sending_problem(error, self._settings) from error

    def _confirms(self, message: can.Message) -> bool:
        """Return whether a message confirms a frame of this bus; note it."""
        own = (message.arbitration_id, bytes(message.data))
        return not message.is_rx and self._confirmations.confirm(own)

    def _return_own_frames(self, wanted: bool) -> bool:
        """Have SocketCAN return the frames that the adapter has sent. Return False if it cannot."""
        with contextlib.suppress(OSError):  # a lost adapter; receiving reports it
            self._bus.socket.setsockopt(SOL_CAN_RAW, CAN_RAW_RECV_OWN_MSGS, int(wanted))
            return True
        return False

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


def _open(settings: BusSettings, machine: Machine, open_port: OpenPort) -> Any:
    if settings.interface == "slcan":
        options: dict[str, Any] = dict(settings.options)
        return SlcanBus(
            settings.channel,
            bitrate=settings.bitrate,
            machine=machine,
            open_port=open_port,
            **options,
        )
    return can.Bus(
        interface=settings.interface,
        channel=settings.channel,
        bitrate=settings.bitrate,
        ignore_config=True,  # the block's parameters are the only source
        **settings.options,
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
            # The protocol has no checksum: the length alone shows that characters were lost or came
            # from elsewhere.
            surplus = len(line) - at - 1 - 2 * size
            if size == len(payload) <= LONGEST_PAYLOAD and surplus in (0, STAMP_DIGITS):
                return DataFrame(identifier, payload)
            return _no_frame(ValueError(f"damaged: {line!r}"))
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
