"""Ranges of the Robstride models (actuator documents); the wire's fields are scaled to them."""

import math
from dataclasses import dataclass
from typing import Final

POSITION: Final = 4.0 * math.pi  # [rad], both ways, all models


@dataclass(frozen=True, slots=True)
class Model:
    """Ranges of one model: velocity and torque in both directions, gains from 0."""

    velocity: float  # [rad/s]
    torque: float  # [Nm]
    stiffness: float  # [Nm/rad]
    damping: float  # [Nm s/rad]


MODELS: Final = {
    "rs-00": Model(33.0, 14.0, 500.0, 5.0),
    "rs-01": Model(44.0, 17.0, 500.0, 5.0),
    "rs-02": Model(44.0, 17.0, 500.0, 5.0),
    "rs-03": Model(20.0, 60.0, 5000.0, 100.0),
    "rs-04": Model(15.0, 120.0, 5000.0, 100.0),
    "rs-05": Model(50.0, 5.5, 500.0, 5.0),
    "rs-06": Model(50.0, 36.0, 5000.0, 100.0),
}
