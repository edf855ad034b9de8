"""A CAN bus through python-can."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Final

import can
from can.exceptions import CanError
from can.interfaces.socketcan.constants import CAN_RAW_RECV_OWN_MSGS, SOL_CAN_RAW

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
from humanoid_devices_can.bus.problems import closed_problem, sending_problem
from humanoid_devices_can.errors import QueueFullError

SEND_TIMEOUT: Final = 0.05  # [s] an adapter may take to accept a frame

_STATES: Final = {
    can.BusState.ACTIVE: ControllerState.ACTIVE,
    can.BusState.PASSIVE: ControllerState.PASSIVE,
    can.BusState.ERROR: ControllerState.OFF,
}


class PythonCanBus(Bus):
    """A bus of python-can, which this object closes. See Bus."""

    def __init__(self, settings: BusSettings, bus: can.BusABC, clock: Callable[[], float]) -> None:
        self._settings, self._bus, self._clock = settings, bus, clock
        self._confirmations, self._confirming = Confirmations(), False

    @property
    def confirmed(self) -> float:  # type: ignore[override]  # it follows the adapter
        """See Bus."""
        return self._confirmations.until

    def set_confirming(self, on: bool) -> bool:
        """See Bus: SocketCAN returns the frames sent."""
        # Another thread may send: none of its frames is returned that was not noted before. Those
        # on their way still count as own ones afterwards, so nothing noted is forgotten.
        self._confirming = self._settings.interface == "socketcan"
        found = self._confirming and self._return_own_frames(on)
        self._confirming = on and found
        return found

    def receive(self, timeout: float) -> Received | None:
        """See Bus."""
        deadline = self._clock() + timeout
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

    def send_all(self, frames: Sequence[CanFrame]) -> int:
        """See Bus."""
        for i, frame in enumerate(frames):
            try:
                self._send(frame, 0.0)
            except QueueFullError:
                return i
        return len(frames)

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
        return 0  # python-can does not report them

    def close(self) -> None:
        """See Bus."""
        with contextlib.suppress(CanError, OSError):  # gone already
            self._bus.shutdown()


def _received(message: can.Message, settings: BusSettings) -> Received:
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
