"""Identifiers, orders and reports of Robstride motors."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from struct import Struct
from typing import Final

from humanoid_devices_can.errors import WireError
from humanoid_devices_robstride.wire.codes import CommunicationType, StatusFault

Frame = tuple[int, bytes]  # identifier and payload

DEFAULT_HOST: Final = 0xFD
PAYLOAD_BYTES: Final = 8
_FOUR_WORDS: Final = Struct(">HHHH")
_FAULTS: Final = Struct("<II")


def identifier(type: CommunicationType, extra: int, device: int) -> int:
    """Identifier of a message. Raises WireError for a field that doesn't fit."""
    if not (0 <= extra <= 0xFFFF and 0 <= device <= 0xFF):
        raise WireError(f"{type.name}: extra {extra} has 16 bits, device {device} has 8")
    return type << 24 | extra << 8 | device


def parse_identifier(identifier: int) -> tuple[CommunicationType, int, int]:
    """Type, extra and device of a message. Raises WireError if it is none of this family."""
    if not 0 <= identifier < 1 << 29:
        raise WireError(f"identifier 0x{identifier:X} has more than 29 bits")
    try:
        type = CommunicationType(identifier >> 24)
    except ValueError:
        raise WireError(
            f"identifier 0x{identifier:08X}: Robstride motors have no communication type "
            f"{identifier >> 24}"
        ) from None
    return type, identifier >> 8 & 0xFFFF, identifier & 0xFF


def expect(type: CommunicationType, identifier: int, payload: bytes) -> tuple[int, int]:
    """Extra and device of a frame that must be of `type`. Raises WireError."""
    found, extra, device = parse_identifier(identifier)
    if found is not type:
        raise WireError(f"expected a frame of type {type.name}, found {found.name}")
    if len(payload) != PAYLOAD_BYTES:
        raise WireError(
            f"{type.name} has {PAYLOAD_BYTES} bytes, not {len(payload)}: '{payload.hex(' ')}'"
        )
    return extra, device


def pack(layout: Struct, name: str, *fields: float | bytes) -> bytes:
    """`fields` of message `name` as bytes. Raises WireError for one that doesn't fit."""
    try:
        return layout.pack(*fields)
    except (struct.error, OverflowError) as error:
        raise WireError(f"{name} {fields}: {error}") from error


@dataclass(frozen=True, slots=True)
class OperationControl:
    """Set point and gains of the MIT law, each a u16."""

    position: int
    velocity: int
    torque: int  # in the identifier
    stiffness: int
    damping: int

    def encode(self, device: int) -> Frame:
        """The frame for motor `device`. Raises WireError for a field that doesn't fit."""
        kind = CommunicationType.OPERATION_CONTROL
        fields = self.position, self.velocity, self.stiffness, self.damping
        return identifier(kind, self.torque, device), pack(_FOUR_WORDS, kind.name, *fields)

    @classmethod
    def decode(cls, identifier: int, payload: bytes) -> OperationControl:
        """The fields of a frame. Raises WireError."""
        torque, _ = expect(CommunicationType.OPERATION_CONTROL, identifier, payload)
        position, velocity, stiffness, damping = _FOUR_WORDS.unpack(payload)
        return cls(position, velocity, torque, stiffness, damping)


@dataclass(frozen=True, slots=True)
class Status:
    """A motor's answer to operation control, enable, disable and write parameter."""

    device: int  # the motor
    host: int
    faults: StatusFault
    mode: int  # Mode, 2 bits
    position: int  # u16
    velocity: int  # u16
    torque: int  # u16
    temperature: int  # [0.1 °C], u16

    def encode(self) -> Frame:
        """The frame. Raises WireError for a field that doesn't fit."""
        if not (0 <= self.device <= 0xFF and 0 <= self.faults <= 0x3F and 0 <= self.mode <= 3):
            raise WireError(f"device has 8 bits, faults 6, mode 2: {self}")
        extra = self.device | self.faults << 8 | self.mode << 14
        fields = self.position, self.velocity, self.torque, self.temperature
        payload = pack(_FOUR_WORDS, "STATUS", *fields)
        return identifier(CommunicationType.STATUS, extra, self.host), payload

    @classmethod
    def decode(cls, identifier: int, payload: bytes) -> Status:
        """The fields of a frame. Raises WireError."""
        extra, host = expect(CommunicationType.STATUS, identifier, payload)
        faults = StatusFault(extra >> 8 & 0x3F)
        return cls(extra & 0xFF, host, faults, extra >> 14, *_FOUR_WORDS.unpack(payload))


@dataclass(frozen=True, slots=True)
class FaultReport:
    """What a motor says by itself when a fault comes or goes.

    That the motor's id stands where a status frame has it is assumed; confirm on hardware.
    """

    device: int  # the motor
    host: int
    faults: int  # Fault, u32, other bits possible
    warnings: int  # FaultWarning, u32, other bits possible

    def encode(self) -> Frame:
        """The frame. Raises WireError for a field that doesn't fit."""
        payload = pack(_FAULTS, "FAULT_REPORT", self.faults, self.warnings)
        return identifier(CommunicationType.FAULT_REPORT, self.device, self.host), payload

    @classmethod
    def decode(cls, identifier: int, payload: bytes) -> FaultReport:
        """The fields of a frame. Raises WireError."""
        extra, host = expect(CommunicationType.FAULT_REPORT, identifier, payload)
        return cls(extra & 0xFF, host, *_FAULTS.unpack(payload))


def enable(host: int, device: int) -> Frame:
    """The frame that enables a motor in its run mode."""
    return identifier(CommunicationType.ENABLE, host, device), bytes(8)


def disable(host: int, device: int, *, clear_faults: bool = False) -> Frame:
    """The frame that takes the torque from a motor."""
    payload = bytes([clear_faults, 0, 0, 0, 0, 0, 0, 0])
    return identifier(CommunicationType.DISABLE, host, device), payload
