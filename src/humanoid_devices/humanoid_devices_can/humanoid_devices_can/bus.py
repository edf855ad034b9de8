"""A CAN bus through python-can: whole frames in and out, and errors that say what to do."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import can
from can.exceptions import CanError

from humanoid_devices_can.bus_problems import closed_problem, opening_problem, sending_problem
from humanoid_devices_can.error_frames import BusEvent, ControllerState, transmit_overflow
from humanoid_devices_can.errors import InterfaceError
from humanoid_devices_can.slcan import SlcanBus

SEND_TIMEOUT: Final = 0.05  # [s] an adapter may take to accept a frame
LONGEST_PAYLOAD: Final = 8  # bytes, CAN 2.0
LONGEST_FRAME: Final = 160  # bits: extended, 8 bytes, as many stuff bits as can be, intermission
CanFrame = tuple[int, bytes]  # 29-bit identifier and payload

_STATES: Final = {
    can.BusState.ACTIVE: ControllerState.ACTIVE,
    can.BusState.PASSIVE: ControllerState.PASSIVE,
    can.BusState.ERROR: ControllerState.OFF,
}


@dataclass(frozen=True, slots=True)
class BusSettings:
    """Which bus, in python-can's words."""

    interface: str
    channel: str
    bitrate: int  # [bit/s]
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.interface} {self.channel}"


@dataclass(frozen=True, slots=True)
class DataFrame:
    """A frame with an extended identifier, as both families use it."""

    identifier: int
    payload: bytes


@dataclass(frozen=True, slots=True)
class ErrorFrame:
    """What the controller says about the bus."""

    event: BusEvent
    data: bytes

    @property
    def overflow(self) -> bool:
        """Whether the controller's transmit queue was full and a frame was lost."""
        return transmit_overflow(self.event, self.data)


@dataclass(frozen=True, slots=True)
class InvalidFrame:
    """Something that is no frame, or none that a motor sends."""

    reason: str


Received = DataFrame | ErrorFrame | InvalidFrame


class Bus(Protocol):
    """One thread receives, another sends."""

    def receive(self, timeout: float) -> Received | None:
        """The next frame, or None after `timeout` [s]. Raises AdapterLostError."""

    def send(self, frame: CanFrame) -> None:
        """Hand a frame to the adapter. Raises QueueFullError, AdapterLostError."""

    def state(self) -> ControllerState:
        """What the controller says of itself, as far as the interface can tell."""

    def refused(self) -> int:
        """Frames the adapter took and then refused, as far as the interface can tell."""

    def close(self) -> None:
        """Let go of the interface. Never raises."""


OpenBus = Callable[[BusSettings], Bus]


class PythonCanBus:
    """A bus of python-can. See Bus."""

    def __init__(self, settings: BusSettings) -> None:
        """Opens the bus. Raises InterfaceError that says what is missing."""
        self._settings = settings
        try:
            self._bus = _open(settings)
        except (CanError, NotImplementedError, ImportError, OSError, ValueError, TypeError) as e:
            raise InterfaceError(opening_problem(e, settings)) from e

    def receive(self, timeout: float) -> Received | None:
        """See Bus."""
        deadline = time.monotonic() + timeout
        try:
            # Not `recv`, which measures the time by the wall clock: that may be set.
            message, left = None, timeout
            while True:
                message, _ = self._bus._recv_internal(left)  # noqa: SLF001
                if message is not None or left == 0.0:
                    break
                left = max(deadline - time.monotonic(), 0.0)
        except (ValueError, IndexError) as error:  # slcan: a line that is no frame
            return InvalidFrame(f"the adapter sent no frame: {error}")
        except (CanError, OSError) as error:
            raise closed_problem(error, self._settings) from error
        return None if message is None else _received(message)

    def send(self, frame: CanFrame) -> None:
        """See Bus."""
        identifier, payload = frame
        message = can.Message(arbitration_id=identifier, data=payload, is_extended_id=True)
        try:
            self._bus.send(message, SEND_TIMEOUT)
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
    """One that another process has open, too, and must be able to go on with."""

    def close(self) -> None:
        """See Bus. An adapter's channel, which all of them have in common, stays open."""
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


def _received(message: Any) -> Received:
    identifier, payload = int(message.arbitration_id), bytes(message.data)
    if message.is_error_frame:
        return ErrorFrame(BusEvent(identifier & 0x3FF), payload)
    if not message.is_extended_id or message.is_remote_frame or message.is_fd:
        return InvalidFrame(
            f"identifier 0x{identifier:03X} is "
            + ("standard" if not message.is_extended_id else "a remote or FD frame")
            + "; motors send extended data frames"
        )
    if len(payload) != message.dlc or message.dlc > LONGEST_PAYLOAD:
        return InvalidFrame(
            f"identifier 0x{identifier:08X} announces {message.dlc} bytes and has {len(payload)}"
        )
    return DataFrame(identifier, payload)
