"""Checks of the numbers in requests on the control channel. All raise TwinError."""

import math
from typing import Final

from humanoid_twin.errors import TwinError

# Of angles, speeds, torques, forces and lengths in SI units: MuJoCo starts anew at 0 beyond 1e10.
LARGEST: Final = 1e6


def bounded(value: float, what: str) -> float:
    """Return a number of a size that physics can compute with."""
    number = float(value)
    if not abs(number) <= LARGEST:
        raise TwinError(f"{what} is {value}, expected a number within ±{LARGEST:.0e}")
    return number


def duration(seconds: float, what: str) -> float:
    """Return a time [s]."""
    if not 0 <= seconds < math.inf:
        raise TwinError(f"{what} is {seconds} s, expected a finite time, 0 or more")
    return float(seconds)


def probability(value: float) -> float:
    """Return a probability."""
    if not 0 <= value <= 1:
        raise TwinError(f"probability {value}, expected 0 to 1")
    return float(value)


def whole(value: int, what: str, least: int, most: int) -> int:
    """Return a whole number from `least` to `most`."""
    if not isinstance(value, int) or not least <= value <= most:
        raise TwinError(f"{what} is {value}, expected a whole number from {least} to {most}")
    return int(value)


_MOST: Final = 1_000_000_000


def count(value: int, what: str) -> int:
    """Return a number of things."""
    return whole(value, what, 0, _MOST)
