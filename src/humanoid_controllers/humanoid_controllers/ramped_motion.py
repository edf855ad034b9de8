"""The time law of a motion in a given time: it begins and ends at rest, without a step.

The speed rises smoothly in the first part of the time, stays constant, and falls in the last part.
Unlike a planner of the fastest motion this one keeps the time, whatever acceleration that takes.
"""

from typing import Final, NamedTuple

RAMP: Final = 0.25  # of the time, for each of both ramps: the speed is 4/3 of the mean one
SHORTEST: Final = 1e-3  # of the time; a motion at the speed limit leaves no time for a ramp


class RampedPosition(NamedTuple):
    """The position of a motion at a time."""

    travelled: float  # of the distance, 0 to 1
    speed: float  # of the mean one


def ramp_within(mean: float) -> float:
    """Return the ramp for a motion whose mean speed is `mean` of the speed limit, 0 to 1."""
    return max(min(RAMP, 1.0 - mean), SHORTEST)


def ramped(time: float, ramp: float) -> RampedPosition:
    """Return the part done after `time`, 0 to 1 of the whole.

    In a ramp the speed is 3 x² − 2 x³ of the constant one, so that the acceleration has no step.
    """
    speed = 1.0 / (1.0 - ramp)
    if ramp <= time <= 1.0 - ramp:
        return RampedPosition(speed * (time - 0.5 * ramp), speed)
    x = max(min(time, 1.0 - time), 0.0) / ramp
    travelled = speed * ramp * (1.0 - 0.5 * x) * x**3
    return RampedPosition(
        travelled if time < ramp else 1.0 - travelled, speed * (3.0 - 2.0 * x) * x**2
    )
