"""Models of Robstride motors, the scales of their frames, and their stored parameters."""

import math
import struct
from dataclasses import dataclass, replace
from typing import Final

from humanoid_devices_robstride.codec import OperationControl

TEMPERATURE_LIMIT: Final = 145.0  # [°C] fault (public Robstride documentation)
TEMPERATURE_WARNING: Final = 135.0  # [°C] (public Robstride documentation)
TIMEOUT_UNIT: Final = 50e-6  # [s] of 0x7028: 20000 is one second (public Robstride documentation)


@dataclass(frozen=True, slots=True)
class RobstrideParameters:
    """Ranges of the wire, ± for the first three (actuator documents)."""

    velocity: float  # [rad/s]
    torque: float  # [Nm]
    stiffness: float  # [Nm/rad]
    damping: float  # [Nm s/rad]
    current: float  # [A] at full torque; public documentation, confirm on hardware
    position: float = 4 * math.pi  # [rad]


_RS_02 = RobstrideParameters(44, 17, 500, 5, current=23)

ROBSTRIDE_MODELS: Final = {
    "rs-00": RobstrideParameters(33, 14, 500, 5, current=16),
    "rs-01": _RS_02,
    "rs-02": _RS_02,
    "rs-03": RobstrideParameters(20, 60, 5000, 100, current=43),
    "rs-04": RobstrideParameters(15, 120, 5000, 100, current=90),
    "rs-05": RobstrideParameters(50, 5.5, 500, 5, current=11),
    "rs-06": RobstrideParameters(50, 36, 5000, 100, current=36),
}


_MIDDLE: Final = 32767
_FULL: Final = 65535


@dataclass(frozen=True, slots=True)
class SetPoint:
    """A command of operation control."""

    position: float  # [rad]
    velocity: float  # [rad/s]
    torque: float  # [Nm]
    stiffness: float  # [Nm/rad]
    damping: float  # [Nm s/rad]


def decode_set_point(order: OperationControl, limits: RobstrideParameters) -> SetPoint:
    """Return the command of raw fields for a motor with these ranges."""
    return SetPoint(
        position=(order.position / _MIDDLE - 1) * limits.position,
        velocity=(order.velocity / _MIDDLE - 1) * limits.velocity,
        torque=(order.torque / _MIDDLE - 1) * limits.torque,
        stiffness=order.stiffness / _FULL * limits.stiffness,
        damping=order.damping / _FULL * limits.damping,
    )


def signed_to_raw(value: float, limit: float) -> int:
    """Return a field of a status frame, saturated at the ends of its range."""
    return max(0, min(_FULL, round((value / limit + 1) * _MIDDLE)))


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
    """The values that the requests "write parameter", "set zero" and "save" change.

    Values out of range are refused; limits beyond the model's are cut off (assumed).
    """

    def __init__(self, parameters: RobstrideParameters) -> None:
        self._parameters = parameters
        self._values = self._saved = _Values(parameters.torque, parameters.current)
        self._use(self._values)

    def restore(self) -> None:
        """Load the saved values, as after a loss of power."""
        self._use(self._saved)

    def save(self) -> None:
        """Save the present values."""
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
        """Return the four bytes of a parameter; None for an unknown one."""
        values = self._values
        encoded = {
            RUN_MODE: struct.pack("<Bxxx", values.run_mode),
            TORQUE_LIMIT: struct.pack("<f", values.torque_limit),
            CURRENT_LIMIT: struct.pack("<f", values.current_limit),
            CAN_TIMEOUT: struct.pack("<I", values.timeout),
        }
        return encoded.get(parameter)

    def write(self, parameter: int, value: bytes) -> None:
        """Write four bytes. Unknown parameters and impossible values are ignored, unreported."""
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
        self.torque = min(values.torque_limit, by_current)  # [Nm] at most
