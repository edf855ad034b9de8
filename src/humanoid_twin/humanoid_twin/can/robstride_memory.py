"""The parameters of a Robstride motor, in RAM and saved."""

import math
import struct
from dataclasses import dataclass, replace
from typing import Final

from humanoid_twin.can.robstride_parameters import RobstrideParameters

RUN_MODE: Final = 0x7005  # u8
TORQUE_LIMIT: Final = 0x700B  # f32 [Nm]
CURRENT_LIMIT: Final = 0x7018  # f32 [A]
CAN_TIMEOUT: Final = 0x7028  # u32, 0: never
_RUN_MODES: Final = 4  # operation control, position, velocity, current (public documentation)


@dataclass(frozen=True, slots=True)
class _Values:
    torque_limit: float  # [Nm]
    current_limit: float  # [A]
    run_mode: int = 0
    timeout: int = 0  # in units of 50 us
    zero: float = 0.0  # [rad]


class Memory:
    """What the orders "write parameter", "set zero" and "save" change.

    Values out of range are refused, those of the limits beyond the model's are cut off (assumed).
    """

    def __init__(self, parameters: RobstrideParameters) -> None:
        self._parameters = parameters
        self._values = self._saved = _Values(parameters.torque, parameters.current)
        self._use(self._values)

    def restore(self) -> None:
        """Power is back."""
        self._use(self._saved)

    def save(self) -> None:
        """Keep the present values over a loss of power."""
        self._saved = self._values

    @property
    def zero(self) -> float:
        """Raw angle that counts as 0 [rad]."""
        return self._values.zero

    @zero.setter
    def zero(self, angle: float) -> None:
        self._use(replace(self._values, zero=angle))

    @property
    def run_mode(self) -> int:
        """0: operation control."""
        return self._values.run_mode

    @property
    def timeout(self) -> int:
        """In units of 50 us; 0: never."""
        return self._values.timeout

    def read(self, parameter: int) -> bytes | None:
        """Four bytes; None if there is no such parameter."""
        values = self._values
        encoded = {
            RUN_MODE: struct.pack("<Bxxx", values.run_mode),
            TORQUE_LIMIT: struct.pack("<f", values.torque_limit),
            CURRENT_LIMIT: struct.pack("<f", values.current_limit),
            CAN_TIMEOUT: struct.pack("<I", values.timeout),
        }
        return encoded.get(parameter)

    def write(self, parameter: int, value: bytes) -> None:
        """Four bytes; what isn't known or can't be is ignored: a status frame can't tell."""
        values, limits = self._values, self._parameters
        number = struct.unpack("<f", value)[0]
        if parameter == RUN_MODE and value[0] < _RUN_MODES:
            self._use(replace(values, run_mode=value[0]))
        elif parameter == CAN_TIMEOUT:
            self._use(replace(values, timeout=int.from_bytes(value, "little")))
        elif not (math.isfinite(number) and number >= 0):
            return
        elif parameter == TORQUE_LIMIT:
            self._use(replace(values, torque_limit=min(number, limits.torque)))
        elif parameter == CURRENT_LIMIT:
            self._use(replace(values, current_limit=min(number, limits.current)))

    def _use(self, values: _Values) -> None:
        self._values = values
        limits = self._parameters
        # Torque is proportional to current, full at full current (assumed).
        by_current = values.current_limit / limits.current * limits.torque
        self.torque = min(values.torque_limit, by_current)  # [Nm] what it gives at most
