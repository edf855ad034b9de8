"""A CAN bus: whole frames, and what its adapter reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

from humanoid_devices_can.bus.error_frames import BusEvent, ControllerState, transmit_overflow
from humanoid_devices_can.errors import ProtocolError, QueueFullError

LONGEST_PAYLOAD: Final = 8  # bytes, CAN 2.0
AT_ONCE: Final = 100  # frames that are received together
EMPTY_FRAME: Final = 47  # bits: standard, no data, no stuff bits, intermission (ISO 11898-1)
EMPTY_EXTENDED_FRAME: Final = 67  # the same with an identifier of 29 bits
LONGEST_FRAME: Final = 160  # bits: extended, 8 bytes, all possible stuff bits, intermission
EXTENDED_BITS: Final = 29  # of an identifier
STANDARD_BITS: Final = 11
CanFrame = tuple[int, bytes]  # identifier and payload


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
    """One thread may receive while another sends.

    A silent bus and an adapter that is held up look the same, unless the adapter *confirms*: what
    it was given until `confirmed` [s], it has taken. What it had received until then, `receive` has
    returned.
    """

    confirmed: float = -math.inf

    def set_confirming(self, on: bool) -> bool:
        """Have the adapter confirm from now on, or no more. Return False if it cannot."""
        del on
        return False

    def ask(self) -> bool:
        """Give the adapter something else than a frame to confirm. Return False if it cannot.

        Not while another thread sends. Raises QueueFullError, AdapterLostError.
        """
        return False

    def receive(self, timeout: float) -> Received | None:
        """Return the next frame; None after `timeout` [s], or when the adapter has confirmed.

        Raises AdapterLostError.
        """

    def receive_all(self, timeout: float) -> Sequence[Received]:
        """Return what has arrived, AT_ONCE frames at least if there are more; else as `receive`."""
        found: list[Received] = []
        while len(found) < AT_ONCE and (received := self.receive(timeout)) is not None:
            found.append(received)
            timeout = 0.0
        return found

    def send(self, frame: CanFrame) -> None:
        """Pass a frame to the adapter.

        Raises QueueFullError, AdapterLostError, ProtocolError for an identifier that is too long.
        """

    def send_all(self, frames: Sequence[CanFrame]) -> int:
        """Pass frames to the adapter until its queue is full. Return how many it has taken.

        Never waits. Raises AdapterLostError, and ProtocolError as `send` does.
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


def check_identifier(identifier: int, settings: BusSettings) -> None:
    """Raise ProtocolError for an identifier that doesn't fit: an adapter would cut it."""
    bits = settings.identifier_bits
    if identifier >> bits:  # of a negative number as well
        raise ProtocolError(f"identifier 0x{identifier:X} has more than the family's {bits} bits")


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
