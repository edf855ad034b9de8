"""Facts of Robstride motors, as the twin knows them: its own literals, shared with nobody."""

import math
from dataclasses import dataclass
from typing import Final

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
