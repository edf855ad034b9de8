"""Reading and writing the parameters of Robstride motors."""

from __future__ import annotations

from dataclasses import dataclass
from struct import Struct
from typing import ClassVar, Final, Self

from humanoid_devices_can.errors import WireError
from humanoid_devices_robstride.wire.codes import CommunicationType, ParameterId
from humanoid_devices_robstride.wire.frames import Frame, expect, identifier, pack

_PARAMETER: Final = Struct("<Hxx4s")
_FLOAT: Final = Struct("<f")
_VALUE: Final = {
    ParameterId.RUN_MODE: Struct("<Bxxx"),
    ParameterId.TORQUE_LIMIT: _FLOAT,
    ParameterId.CURRENT_LIMIT: _FLOAT,
    ParameterId.CAN_TIMEOUT: Struct("<I"),
}


@dataclass(frozen=True, slots=True)
class _ParameterFrame:
    sender: int  # the identifier's `extra`: host id; in an answer the motor's, see `refused`
    receiver: int  # motor id; in an answer the host's
    parameter: int  # ParameterId, or another u16
    value: bytes = bytes(4)  # see `pack_value`

    _type: ClassVar[CommunicationType]

    def encode(self) -> Frame:
        """The frame. Raises WireError for a field that doesn't fit."""
        _expect_value(self.value)
        payload = pack(_PARAMETER, self._type.name, self.parameter, self.value)
        return identifier(self._type, self.sender, self.receiver), payload

    @classmethod
    def decode(cls, identifier: int, payload: bytes) -> Self:
        """The fields of a frame. Raises WireError."""
        sender, receiver = expect(cls._type, identifier, payload)
        return cls(sender, receiver, *_PARAMETER.unpack(payload))


class ReadParameter(_ParameterFrame):
    """A request for a parameter, or the motor's answer to it."""

    __slots__ = ()
    _type = CommunicationType.READ_PARAMETER

    @property
    def refused(self) -> bool:
        """Whether an answer says that the motor doesn't know the parameter (public docs)."""
        return self.sender >> 8 != 0


class WriteParameter(_ParameterFrame):
    """Sets a parameter until the motor loses power. Answered with a status frame."""

    __slots__ = ()
    _type = CommunicationType.WRITE_PARAMETER


def _expect_value(value: bytes) -> None:
    if len(value) != 4:
        raise WireError(f"a parameter's value has 4 bytes, not {len(value)}")


def pack_value(parameter: ParameterId, value: float) -> bytes:
    """The four bytes of a parameter's value. Raises WireError for one that doesn't fit."""
    layout = _VALUE[parameter]
    whole = layout is not _FLOAT and float(value).is_integer()
    return pack(layout, parameter.name, int(value) if whole else value)


def unpack_value(parameter: ParameterId, value: bytes) -> float:
    """The number that four bytes mean for `parameter`. Raises WireError."""
    _expect_value(value)
    return float(_VALUE[parameter].unpack(value)[0])
