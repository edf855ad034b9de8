"""The common parts of the two recording methods: samples, limits, the path over the range."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from humanoid_control_common.errors import RobotError

LONGEST: Final = 0.5  # [s] between two samples: an effort that rises with the time must not jump
OVERSHOOT: Final = 0.02  # [rad] beyond the joint's limit: its measurement, and stops that give way


class RecordingError(RobotError):
    """A recording was aborted: what happened, and where."""


@dataclass(frozen=True, slots=True)
class Sample:
    """The joint in one tick.

    Args:
        time: [s] of the robot's clock.
        position: [rad].
        velocity: [rad/s].
        effort: that was commanded in the tick before, and has acted since [Nm].
        gravity: effort that holds the joint against gravity here, by the model [Nm]; 0 without one.
    """

    time: float
    position: float
    velocity: float
    effort: float
    gravity: float


@dataclass(frozen=True, slots=True)
class FrictionSample:
    """The effort that friction took at one place.

    Args:
        direction: of the motion: 1 forwards, -1 backwards.
        position: [rad].
        effort: without gravity [Nm].
    """

    direction: int
    position: float
    effort: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits of a recording: range, effort and speed.

    Args:
        lower, upper: the range to record [rad].
        limit_lower, limit_upper: the joint's own limits [rad].
        max_effort: beside gravity [Nm].
        max_speed: [rad/s].
        passes: how often each direction covers the range.
    """

    lower: float
    upper: float
    limit_lower: float
    limit_upper: float
    max_effort: float
    max_speed: float
    passes: int = 1


@dataclass(slots=True)
class RecordingPath:
    """The legs that move a joint over its range, each direction as often as the other.

    They lead from the start to the upper end, to and fro between the ends, and from the lower end
    to the start. A leg whose end is reached already is left out.
    """

    bounds: Bounds
    legs: list[tuple[int, float, float]] = field(default_factory=list)  # direction, begin, end

    def begin(self, position: float) -> None:
        """Begin at `position` [rad]."""
        lower, upper = self.bounds.lower, self.bounds.upper
        back = min(max(position, lower), upper)
        between = [(-1, upper, lower), (1, lower, upper)] * self.bounds.passes
        legs = [(1, position, upper), *between[:-1], (1, lower, back)]
        self.legs = [leg for leg in legs if leg[0] * (leg[2] - leg[1]) > 0.0]

    @property
    def done(self) -> bool:
        """Return True at the end of the last leg."""
        return not self.legs

    @property
    def direction(self) -> int:
        """Return that of the present leg."""
        return self.legs[0][0]

    def passed(self, position: float) -> bool:
        """Return True if the present leg ends at `position` [rad], and go on to the next."""
        direction, _, end = self.legs[0]
        if direction * (position - end) < 0.0:
            return False
        self.legs.pop(0)
        if self.legs:
            # It begins where the joint is: an overshoot is part of it.
            self.legs[0] = (self.direction, position, self.legs[0][2])
        return True

    def remaining(self, position: float) -> float:
        """Return what is left of the path [rad]."""
        lengths = [abs(end - begin) for _, begin, end in self.legs[1:]]
        here = max(self.direction * (self.legs[0][2] - position), 0.0) if self.legs else 0.0
        return here + sum(lengths)


class Recording(ABC):
    """Moves one joint over its range: `step` takes a sample and returns the next command.

    Attributes:
        samples: the friction found so far.
        path: what is left of it.
    """

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.path = RecordingPath(bounds)
        self._samples: list[FrictionSample] = []
        self._length = 0.0  # [rad] of the whole path
        self._latest: Sample | None = None

    @property
    def samples(self) -> Sequence[FrictionSample]:
        """Return the friction found so far."""
        return self._samples

    @property
    def done(self) -> bool:
        """Return True when the whole range was passed in both directions."""
        return self._latest is not None and self.path.done

    @property
    def fraction(self) -> float:
        """Return how much of the path is done, 0 to 1."""
        if self._latest is None:
            return 0.0
        if self._length <= 0.0:
            return 1.0
        return min(max(1.0 - self.path.remaining(self._latest.position) / self._length, 0.0), 1.0)

    def step(self, sample: Sample) -> float:
        """Return the next command, [Nm] or [rad/s]: see the method; at rest once it is done.

        Raises RecordingError: the joint is beyond a limit, too fast, pushed, or does not move; a
        value is not finite; the clock was set.
        """
        _check_finite(sample)
        if self._latest is None:
            self.path.begin(sample.position)
            self._length = self.path.remaining(sample.position)
        else:
            _check_time(sample.time - self._latest.time)
        self._latest = sample
        self._check(sample)
        return self._at_rest(sample) if self.path.done else self._step(sample)

    @abstractmethod
    def _step(self, sample: Sample) -> float:
        """Return the next command."""

    @abstractmethod
    def _at_rest(self, sample: Sample) -> float:
        """Return the command that drives the joint nowhere."""

    def _check(self, sample: Sample) -> None:
        bounds, place = self.bounds, f"at {sample.position:.3f} rad"
        if abs(sample.velocity) > bounds.max_speed:
            raise RecordingError(
                f"the joint moves at {sample.velocity:.2f} rad/s {place}, expected at most "
                f"{bounds.max_speed:g}"
            )
        if self.path.done:
            return
        # A joint that is at its stop to begin with must be able to leave it.
        outward = {
            1: sample.position - bounds.limit_upper,
            -1: bounds.limit_lower - sample.position,
        }
        if outward[self.path.direction] > OVERSHOOT:
            limits = f"{bounds.limit_lower:g} to {bounds.limit_upper:g} rad"
            raise RecordingError(f"the joint is beyond its limits {place}, expected {limits}")


def _check_finite(sample: Sample) -> None:
    """Raise RecordingError for a value that is not finite: any comparison with it is false."""
    for name in ("position", "velocity", "effort", "gravity"):
        value = getattr(sample, name)
        if not math.isfinite(value):
            raise RecordingError(
                f"the {name} of the joint is {value}, expected a finite number: nothing measures it"
            )


def _check_time(since: float) -> None:
    """Raise RecordingError if a sample is `since` [s] after the one before, which cannot be."""
    if not 0.0 <= since <= LONGEST:
        raise RecordingError(
            f"a measurement is {since:+.3g} s after the one before, expected 0 to {LONGEST:g} s: "
            "measurements are missing, or the clock was set"
        )


def direction_in_words(direction: int) -> str:
    """Return `direction` in words."""
    return "forwards" if direction > 0 else "backwards"
