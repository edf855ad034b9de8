"""Frames of Robstride motors (actuator documents): bytes and raw fields, without units.

A frame has a 29-bit identifier, `type << 24 | extra << 8 | device`, and eight bytes. From the host,
`device` is the motor and `extra` the host's id, except in operation control; from the motor,
`device` is the host and the low byte of `extra` the motor.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, IntFlag
from struct import Struct
from typing import ClassVar, Final, Self

from humanoid_devices_can.errors import ProtocolError as ProtocolError  # noqa: PLC0414 - from here too
from humanoid_devices_can.fields import pack, unpack

Frame = tuple[int, bytes]  # identifier and payload

DEFAULT_HOST: Final = 0xFD
PAYLOAD_BYTES: Final = 8
_FOUR_WORDS: Final = Struct(">HHHH")
_FAULTS: Final = Struct("<II")


class CommunicationType(IntEnum):
    """Bits 24 to 28 of an identifier."""

    GET_ID = 0
    OPERATION_CONTROL = 1
    STATUS = 2
    ENABLE = 3
    DISABLE = 4  # with byte 0 of the payload set: clear the faults, too
    SET_ZERO = 6
    SET_ID = 7
    READ_PARAMETER = 17
    WRITE_PARAMETER = 18
    FAULT_REPORT = 21
    SAVE = 22
    BAUD_RATE = 23
    ACTIVE_REPORT = 24
    PROTOCOL = 25


class Mode(IntEnum):
    """Bits 14 and 15 of a status frame's `extra` (public Robstride documentation)."""

    RESET = 0
    CALIBRATION = 1
    RUN = 2


class StatusFault(IntFlag):
    """Bits 8 to 13 of a status frame's `extra`, shifted down."""

    UNDERVOLTAGE = 1 << 0
    GATE_DRIVER = 1 << 1
    OVER_TEMPERATURE = 1 << 2
    MAGNETIC_ENCODER = 1 << 3
    STALL_OVERLOAD = 1 << 4
    UNCALIBRATED = 1 << 5


class Fault(IntFlag):
    """The first word of a fault report."""

    OVER_TEMPERATURE = 1 << 0
    GATE_DRIVER = 1 << 1
    UNDERVOLTAGE = 1 << 2
    OVERVOLTAGE = 1 << 3
    UNCALIBRATED = 1 << 7
    STALL = 1 << 14


class FaultWarning(IntFlag):
    """The second word of a fault report."""

    OVER_TEMPERATURE = 1 << 0


class ParameterId(IntEnum):
    """Parameters whose type the documents give."""

    RUN_MODE = 0x7005  # u8, 0: operation control
    TORQUE_LIMIT = 0x700B  # f32 [Nm]
    CURRENT_LIMIT = 0x7018  # f32 [A]
    CAN_TIMEOUT = 0x7028  # u32, 0: never
    ADD_OFFSET = 0x702B  # f32 [rad] added to the position (public)


def identifier(type: CommunicationType, extra: int, device: int) -> int:
    """Return the identifier of a message. Raises ProtocolError for a field that doesn't fit."""
    if not (0 <= extra <= 0xFFFF and 0 <= device <= 0xFF):
        raise ProtocolError(f"{type.name}: extra {extra} has 16 bits, device {device} has 8")
    return type << 24 | extra << 8 | device


def parse_identifier(identifier: int) -> tuple[CommunicationType, int, int]:
    """Return type, extra and device. Raises ProtocolError for a message of another family."""
    if not 0 <= identifier < 1 << 29:
        raise ProtocolError(f"identifier 0x{identifier:X} has more than 29 bits")
    try:
        type = CommunicationType(identifier >> 24)
    except ValueError:
        raise ProtocolError(
            f"identifier 0x{identifier:08X}: Robstride motors have no communication type "
            f"{identifier >> 24}"
        ) from None
    return type, identifier >> 8 & 0xFFFF, identifier & 0xFF


def _expect(type: CommunicationType, identifier: int) -> tuple[int, int]:
    """Return extra and device of a frame that must be of `type`. Raises ProtocolError."""
    found, extra, device = parse_identifier(identifier)
    if found is not type:
        raise ProtocolError(f"expected a frame of type {type.name}, found {found.name}")
    return extra, device


@dataclass(frozen=True, slots=True)
class OperationControl:
    """Set point and gains of the MIT law, each a u16."""

    position: int
    velocity: int
    torque: int  # in the identifier
    stiffness: int
    damping: int

    def encode(self, device: int) -> Frame:
        """Return the frame for motor `device`. Raises ProtocolError if a field doesn't fit."""
        kind = CommunicationType.OPERATION_CONTROL
        fields = self.position, self.velocity, self.stiffness, self.damping
        return identifier(kind, self.torque, device), pack(_FOUR_WORDS, kind.name, *fields)

    @classmethod
    def decode(cls, identifier: int, payload: bytes) -> OperationControl:
        """Return the fields of a frame. Raises ProtocolError."""
        torque, _ = _expect(CommunicationType.OPERATION_CONTROL, identifier)
        fields = unpack(_FOUR_WORDS, "OPERATION_CONTROL", payload)
        position, velocity, stiffness, damping = fields
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
        """Return the frame. Raises ProtocolError for a field that doesn't fit."""
        if not (0 <= self.device <= 0xFF and 0 <= self.faults <= 0x3F and 0 <= self.mode <= 3):
            raise ProtocolError(f"device has 8 bits, faults 6, mode 2: {self}")
        extra = self.device | self.faults << 8 | self.mode << 14
        fields = self.position, self.velocity, self.torque, self.temperature
        payload = pack(_FOUR_WORDS, "STATUS", *fields)
        return identifier(CommunicationType.STATUS, extra, self.host), payload

    @classmethod
    def decode(cls, identifier: int, payload: bytes) -> Status:
        """Return the fields of a frame. Raises ProtocolError."""
        extra, host = _expect(CommunicationType.STATUS, identifier)
        faults = StatusFault(extra >> 8 & 0x3F)
        return cls(extra & 0xFF, host, faults, extra >> 14, *unpack(_FOUR_WORDS, "STATUS", payload))


def reset_status(host: int, device: int) -> tuple[int, int]:
    """Return mask and value of the identifier of a status of a motor that is reset."""
    mask = 0x1F << 24 | 0b11 << 22 | 0xFFFF  # type, mode, motor and host: not the faults
    return mask, identifier(CommunicationType.STATUS, Mode.RESET << 14 | device, host)


@dataclass(frozen=True, slots=True)
class FaultReport:
    """An unsolicited report of a motor when a fault appears or disappears.

    The place of the motor's id is that of a status frame, as in two public documents.
    """

    device: int  # the motor
    host: int
    faults: int  # Fault, u32, other bits possible
    warnings: int  # FaultWarning, u32, other bits possible

    def encode(self) -> Frame:
        """Return the frame. Raises ProtocolError for a field that doesn't fit."""
        payload = pack(_FAULTS, "FAULT_REPORT", self.faults, self.warnings)
        return identifier(CommunicationType.FAULT_REPORT, self.device, self.host), payload

    @classmethod
    def decode(cls, identifier: int, payload: bytes) -> FaultReport:
        """Return the fields of a frame. Raises ProtocolError."""
        extra, host = _expect(CommunicationType.FAULT_REPORT, identifier)
        return cls(extra & 0xFF, host, *unpack(_FAULTS, "FAULT_REPORT", payload))


def enable(host: int, device: int) -> Frame:
    """Return the frame that enables a motor in its run mode."""
    return identifier(CommunicationType.ENABLE, host, device), bytes(PAYLOAD_BYTES)


def disable(host: int, device: int, *, clear_faults: bool = False) -> Frame:
    """Return the frame that disables a motor."""
    payload = bytes([clear_faults, 0, 0, 0, 0, 0, 0, 0])
    return identifier(CommunicationType.DISABLE, host, device), payload


def active_report(host: int, device: int, *, on: bool) -> Frame:
    """Return the frame that makes a motor send its status by itself, or stop it (public)."""
    payload = bytes([1, 2, 3, 4, 5, 6, on, 0])
    return identifier(CommunicationType.ACTIVE_REPORT, host, device), payload


_PARAMETER: Final = Struct("<Hxx4s")
_FLOAT: Final = Struct("<f")
_VALUE: Final = {
    ParameterId.RUN_MODE: Struct("<Bxxx"),
    ParameterId.TORQUE_LIMIT: _FLOAT,
    ParameterId.CURRENT_LIMIT: _FLOAT,
    ParameterId.CAN_TIMEOUT: Struct("<I"),
    ParameterId.ADD_OFFSET: _FLOAT,
}


@dataclass(frozen=True, slots=True)
class _ParameterFrame:
    sender: int  # the identifier's `extra`: host id; in an answer the motor's, see `refused`
    receiver: int  # motor id; in an answer the host's
    parameter: int  # ParameterId, or another u16
    value: bytes = bytes(4)  # see `pack_value`

    _type: ClassVar[CommunicationType]

    def encode(self) -> Frame:
        """Return the frame. Raises ProtocolError for a field that doesn't fit."""
        _expect_value(self.value)
        payload = pack(_PARAMETER, self._type.name, self.parameter, self.value)
        return identifier(self._type, self.sender, self.receiver), payload

    @classmethod
    def decode(cls, identifier: int, payload: bytes) -> Self:
        """Return the fields of a frame. Raises ProtocolError."""
        sender, receiver = _expect(cls._type, identifier)
        return cls(sender, receiver, *unpack(_PARAMETER, cls._type.name, payload))


class ReadParameter(_ParameterFrame):
    """A request for a parameter, or the motor's answer to it."""

    __slots__ = ()
    _type = CommunicationType.READ_PARAMETER

    @property
    def refused(self) -> bool:
        """Return whether an answer rejects an unknown parameter (public documentation)."""
        return self.sender >> 8 != 0


class WriteParameter(_ParameterFrame):
    """Sets a parameter until the motor loses power. Answered with a status frame."""

    __slots__ = ()
    _type = CommunicationType.WRITE_PARAMETER


def _expect_value(value: bytes) -> None:
    if len(value) != 4:
        raise ProtocolError(f"a parameter's value has 4 bytes, not {len(value)}")


def pack_value(parameter: ParameterId, value: float) -> bytes:
    """Return the four bytes of a parameter's value. Raises ProtocolError if it doesn't fit."""
    layout = _VALUE[parameter]
    whole = layout is not _FLOAT and float(value).is_integer()
    return pack(layout, parameter.name, int(value) if whole else value)


def unpack_float(value: bytes) -> float:
    """Return the value of a parameter of type f32."""
    return float(_FLOAT.unpack(value)[0])
