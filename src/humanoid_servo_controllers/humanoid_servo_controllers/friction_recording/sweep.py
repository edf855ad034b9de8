"""Record the friction of a joint that moves slowly and steadily."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from humanoid_servo_controllers.friction_recording.recording import (
    Bounds,
    FrictionSample,
    Recording,
    RecordingError,
    Sample,
    direction_in_words,
)

FASTEST: Final = 0.02  # [rad/s]
AVERAGED: Final = 0.25  # [s]
STEADY: Final = 0.5  # part of the speed, by which that of an average may differ
NO_MOTION: Final = 10.0  # [s]
MOVED: Final = 0.01  # [rad] that counts as motion
BACK: Final = 0.03  # [rad] against the direction that nothing but a push explains


@dataclass(frozen=True, slots=True)
class Sweep:
    """Settings. `speed`: of the joint [rad/s], up to FASTEST: its dynamics count for nothing."""

    speed: float = FASTEST


class SweepRecording(Recording):
    """Averages the effort of a velocity controller that moves the joint at a constant speed.

    The command is a velocity [rad/s].
    """

    def __init__(self, bounds: Bounds, settings: Sweep | None = None) -> None:
        super().__init__(bounds)
        self._speed = (settings or Sweep()).speed
        self._averaged: list[Sample] = []
        self._farthest: Sample | None = None  # along the present leg
        self._moved: Sample | None = None  # where it was when it moved last

    def _at_rest(self, sample: Sample) -> float:
        return 0.0

    def _step(self, sample: Sample) -> float:
        if self.path.passed(sample.position):
            self._averaged.clear()
            self._farthest = self._moved = None
            if self.path.done:
                return 0.0
        self._watch(sample)
        self._average(sample)
        return self.path.direction * self._speed

    def _watch(self, sample: Sample) -> None:
        """Raise RecordingError if the joint does not move, or not where it should."""
        direction = self.path.direction
        if self._farthest is None or self._moved is None:
            self._farthest = self._moved = sample
        ahead = direction * (sample.position - self._farthest.position)
        place = f"at {sample.position:.3f} rad"
        if ahead > 0.0:
            self._farthest = sample
        elif ahead < -BACK:
            raise RecordingError(
                f"the joint moves {direction_in_words(-direction)} {place} while it is driven "
                f"{direction_in_words(direction)}: something pushes it"
            )
        if abs(sample.position - self._moved.position) > MOVED:
            self._moved = sample
        waited = sample.time - self._moved.time
        used = abs(sample.effort - sample.gravity)
        if waited > NO_MOTION:
            raise RecordingError(
                f"the joint does not move {direction_in_words(direction)} {place}: {used:.2f} Nm "
                f"for {NO_MOTION:g} s: a stop or an obstacle is there, or it needs a larger "
                "--max-effort"
            )
        if used > self.bounds.max_effort:
            raise RecordingError(
                f"the joint takes {used:.2f} Nm {direction_in_words(direction)} {place}, expected "
                f"at most {self.bounds.max_effort:g}: a stop or an obstacle is there, or it needs "
                "a larger --max-effort"
            )

    def _average(self, sample: Sample) -> None:
        self._averaged.append(sample)
        first = self._averaged[0]
        lasted = sample.time - first.time
        if lasted < AVERAGED:
            return
        direction = self.path.direction
        speed = direction * (sample.position - first.position) / lasted
        if abs(speed - self._speed) <= STEADY * self._speed:
            effort = float(np.mean([it.effort - it.gravity for it in self._averaged[1:]]))
            position = float(np.mean([it.position for it in self._averaged[1:]]))
            self._samples.append(FrictionSample(direction, position, effort))
        self._averaged = [sample]
