"""Frames of Sito motors with MIT firmware (actuator documents): raw fields, without units.

A frame has a 29-bit identifier, `0x05060000 | device << 8 | type`, and eight big-endian bytes.
Host and motor use the same identifiers: the device is always the motor.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from struct import Struct
from typing import Final

from humanoid_devices_can.errors import ProtocolError as ProtocolError  # noqa: PLC0414 - from here too
from humanoid_devices_can.fields import pack, unpack

PREFIX: Final = 0x05060000
PAYLOAD_BYTES: Final = 8
RESET_PAYLOAD: Final = b"\x55" * PAYLOAD_BYTES
_SELECT_MODE: Final = Struct(">BBBBxxxx")
_COMMAND: Final = Struct(">hhi")
_GAINS: Final = Struct(">ff")
_FEEDBACK_1: Final = Struct(">xxhxxh")
_FEEDBACK_2: Final = Struct(">xxxxi")


class MessageType(IntEnum):
    """The low byte of an identifier."""

    RESET = 0x00  # disable
    SELECT_MODE = 0x01  # enable
    COMMAND = 0x09  # feed-forward current, velocity, position
    GAINS = 0x45
    FEEDBACK_0 = 0xB0
    FEEDBACK_1 = 0xB1
    FEEDBACK_2 = 0xB2
    FEEDBACK_3 = 0xB3


class ControlMode(IntEnum):
    """The modes of SELECT_MODE."""

    POSITION = 0x08
    MIT = 0x09


def identifier(device: int, type: MessageType) -> int:
    """Return the identifier for `device`. Raises ProtocolError unless the id fits a byte."""
    if not 0 <= device <= 0xFF:
        raise ProtocolError(f"a Sito device id is 0 to 255, not {device}")
    return PREFIX | device << 8 | type


def parse_identifier(identifier: int) -> tuple[int, MessageType]:
    """Return device and type. Raises ProtocolError for a message of another family."""
    if identifier & ~0xFFFF != PREFIX:
        raise ProtocolError(f"identifier 0x{identifier:08X} is not of a Sito motor (0x0506xxxx)")
    try:
        return identifier >> 8 & 0xFF, MessageType(identifier & 0xFF)
    except ValueError:
        raise ProtocolError(
            f"identifier 0x{identifier:08X}: Sito motors have no message type "
            f"0x{identifier & 0xFF:02X}"
        ) from None


@dataclass(frozen=True, slots=True)
class SelectMode:
    """Enables a motor and sets its feedback intervals [ms]: 0 to 255, 0: never."""

    mode: int  # ControlMode
    feedback_1: int
    feedback_2: int
    feedback_3: int

    def encode(self) -> bytes:
        """Return the payload. Raises ProtocolError for a field that doesn't fit."""
        fields = self.mode, self.feedback_1, self.feedback_2, self.feedback_3
        return pack(_SELECT_MODE, "SELECT_MODE", *fields)

    @classmethod
    def decode(cls, payload: bytes) -> SelectMode:
        """Return the fields of a payload. Raises ProtocolError."""
        return cls(*unpack(_SELECT_MODE, "SELECT_MODE", payload))


@dataclass(slots=True)  # not frozen: one is made for each frame
class Command:
    """Set point of the MIT law."""

    current: int  # feed-forward [mA], i16
    velocity: int  # [counts/s], i16
    position: int  # [counts], i32

    def encode(self) -> bytes:
        """Return the payload. Raises ProtocolError for a field that doesn't fit."""
        return pack(_COMMAND, "command", self.current, self.velocity, self.position)

    @classmethod
    def decode(cls, payload: bytes) -> Command:
        """Return the fields of a payload. Raises ProtocolError."""
        return cls(*unpack(_COMMAND, "command", payload))


@dataclass(frozen=True, slots=True)
class Gains:
    """Gains of the MIT law in firmware units, f32."""

    stiffness: float
    damping: float

    def encode(self) -> bytes:
        """Return the payload. Raises ProtocolError for a number beyond f32."""
        return pack(_GAINS, "gains", self.stiffness, self.damping)

    @classmethod
    def decode(cls, payload: bytes) -> Gains:
        """Return the fields of a payload. Raises ProtocolError."""
        return cls(*unpack(_GAINS, "gains", payload))


@dataclass(slots=True)  # not frozen: one is made for each frame
class Feedback1:
    """Measured current and velocity."""

    current: int  # phase current [mA], i16
    velocity: int  # [counts/s], i16

    def encode(self) -> bytes:
        """Return the payload. Raises ProtocolError for a field that doesn't fit."""
        return pack(_FEEDBACK_1, "FEEDBACK_1", self.current, self.velocity)

    @classmethod
    def decode(cls, payload: bytes) -> Feedback1:
        """Return the fields of a payload. Raises ProtocolError."""
        return cls(*unpack(_FEEDBACK_1, "FEEDBACK_1", payload))


@dataclass(slots=True)  # not frozen: one is made for each frame
class Feedback2:
    """Measured position."""

    position: int  # [counts], i32

    def encode(self) -> bytes:
        """Return the payload. Raises ProtocolError for a field that doesn't fit."""
        return pack(_FEEDBACK_2, "FEEDBACK_2", self.position)

    @classmethod
    def decode(cls, payload: bytes) -> Feedback2:
        """Return the fields of a payload. Raises ProtocolError."""
        return cls(*unpack(_FEEDBACK_2, "FEEDBACK_2", payload))
