"""Models of Robstride motors, the scales of their frames, and their stored parameters."""

import math
import struct
from dataclasses import dataclass, replace
from typing import Final

from humanoid_devices_robstride.codec import OperationControl

WARNS_BELOW: Final = 10.0  # [°C] below the limit (public for rs-04, assumed for the others)
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
    hottest: float = 145.0  # [°C] fault: public for rs-00, rs-04, rs-05, assumed for the others


_RS_02 = RobstrideParameters(44, 17, 500, 5, current=23)

ROBSTRIDE_MODELS: Final = {
    "rs-00": RobstrideParameters(33, 14, 500, 5, current=16, hottest=135),
    "rs-01": _RS_02,
    "rs-02": _RS_02,
    "rs-03": RobstrideParameters(20, 60, 5000, 100, current=43),
    "rs-04": RobstrideParameters(15, 120, 5000, 100, current=90),
    "rs-05": RobstrideParameters(50, 5.5, 500, 5, current=11, hottest=135),
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


_LARGEST: Final = 3.4e38  # f32
_FLOAT: Final = struct.Struct("<f")
# Value, layout, lowest and highest of each parameter (public Robstride documentation).
_PARAMETERS: Final = {
    0x7005: ("run_mode", struct.Struct("<Bxxx"), 0, 3),  # 0: operation control
    0x700B: ("torque_limit", _FLOAT, 0.0, _LARGEST),
    0x7018: ("current_limit", _FLOAT, 0.0, _LARGEST),
    0x7026: ("report_period", struct.Struct("<Hxx"), 1, 0xFFFF),
    0x7028: ("timeout", struct.Struct("<I"), 0, 0xFFFFFFFF),
    0x7029: ("zero_state", struct.Struct("<Bxxx"), 0, 1),
    0x702B: ("added_offset", _FLOAT, -_LARGEST, _LARGEST),
}


@dataclass(frozen=True, slots=True)
class Values:
    """What a motor keeps; `save` keeps it without power, too."""

    torque_limit: float  # [Nm]
    current_limit: float  # [A]
    run_mode: int = 0
    timeout: int = 0  # in units of 50 us, 0: never
    zero: float = 0.0  # [rad]
    zero_state: int = 0  # 0: wakes up within 0 … 2 pi of its zero, 1: within ±pi
    added_offset: float = 0.0  # [rad], added to the position
    report_period: int = 1  # of status frames: 10 ms, and 5 ms more for each further unit
    reports: bool = False  # by itself


class Memory:
    """The values that "write parameter", "set zero", "active report" and "save" change.

    Values out of range are refused; limits beyond the model's are cut off (assumed). `unreadable`:
    parameters that this firmware does not let be read.
    """

    unreadable: frozenset[int] = frozenset()

    def __init__(self, parameters: RobstrideParameters) -> None:
        self._parameters = parameters
        self._saved = Values(parameters.torque, parameters.current)
        self.restore()

    def restore(self) -> None:
        """Load the saved values, as after a loss of power."""
        self._use(self._saved)

    def save(self) -> None:
        """Save the present values."""
        self._saved = self.values

    def change(self, **values: float) -> None:
        """Replace some values, by their names."""
        self._use(replace(self.values, **values))  # type: ignore[arg-type]

    def turns_at(self, angle: float) -> float:
        """Return the whole turns [rad] that a motor at `angle` [rad] forgets as it wakes up."""
        turns = (angle - self.values.zero) / math.tau
        return math.tau * (round(turns) if self.values.zero_state else math.floor(turns))

    def read(self, parameter: int) -> bytes | None:
        """Return the four bytes of a parameter; None for an unknown one."""
        if parameter in self.unreadable or parameter not in _PARAMETERS:
            return None
        name, layout, _, _ = _PARAMETERS[parameter]
        return layout.pack(getattr(self.values, name))

    def write(self, parameter: int, value: bytes) -> None:
        """Write four bytes. Unknown parameters and impossible values are ignored, unreported."""
        if parameter not in _PARAMETERS:
            return
        name, layout, lowest, highest = _PARAMETERS[parameter]
        (number,) = layout.unpack(value)
        if lowest <= number <= highest:
            limits = self._parameters
            most = {"torque_limit": limits.torque, "current_limit": limits.current}
            self.change(**{name: min(number, most.get(name, number))})

    def _use(self, values: Values) -> None:
        self.values = values
        limits = self._parameters
        # Torque is proportional to current, full at full current, and the limit acts in operation
        # control (both assumed: public documents name it for the other modes).
        by_current = values.current_limit / limits.current * limits.torque
        self.torque = min(values.torque_limit, by_current)  # [Nm] at most
