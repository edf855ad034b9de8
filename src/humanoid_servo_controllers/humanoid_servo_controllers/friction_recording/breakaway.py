"""Record the breakaway effort: at which effort does a joint at rest begin to move?"""

from __future__ import annotations

import sys
from collections import deque
from dataclasses import dataclass
from typing import Final

from humanoid_servo_controllers.friction_recording.recording import (
    Bounds,
    FrictionSample,
    Recording,
    RecordingError,
    Sample,
    direction_in_words,
)

FIRST_RAMP: Final = 8.0  # [s] in which the first ramp would reach the largest effort
RAMP: Final = 3.0  # [s] in which a later one would go from 0 to the breakaway effort before
BEGIN: Final = 0.6  # part of that effort with which it begins
SLOWEST: Final = 0.02  # part of the rate of the first ramp
SHORTEST: Final = 0.1  # [s] shortest ramp that gives a sample
RELEASE: Final = 0.5  # [s] between two ramps
AT_REST: Final = 0.2  # [s] in which a joint at rest moves by less than RESTS
RESTS: Final = 0.002  # [rad]
COASTS: Final = 0.3  # [rad] at most, after it broke away
FRUITLESS: Final = 10  # ramps in a row after which the joint was no nearer to the end of its way
TIMEOUT: Final = 5.0  # [s] for a joint that nothing drives to come to rest


@dataclass(frozen=True, slots=True)
class Breakaway:
    """Settings. `threshold`: a joint that is this far from its start has broken away [rad]."""

    threshold: float = 0.02


class BreakawayRecording(Recording):
    """Ramps the effort at rest until the joint moves, releases it, and so on over the range.

    The command is an effort [Nm], gravity included.
    """

    def __init__(self, bounds: Bounds, settings: Breakaway | None = None) -> None:
        super().__init__(bounds)
        self._threshold = (settings or Breakaway()).threshold
        self._rate = bounds.max_effort / FIRST_RAMP  # [Nm/s]
        self._begin = 0.0  # [Nm] with which the next ramp begins
        self._released: Sample | None = None  # the first one since
        self._ramp: list[Sample] = []  # the present one; empty: released
        self._recent: deque[Sample] = deque()  # of the last AT_REST seconds
        self._least = (sys.maxsize, 0.0)  # legs and way [rad] that are left, the least so far
        self._fruitless = 0  # ramps since then

    def _at_rest(self, sample: Sample) -> float:
        return sample.gravity

    def _step(self, sample: Sample) -> float:
        if self._ramp:
            return self._push(sample)
        return self._release(sample)

    def _release(self, sample: Sample) -> float:
        if self._released is None:
            self._released = sample
        waited = sample.time - self._released.time
        coasted = abs(sample.position - self._released.position)
        if coasted > COASTS or waited > TIMEOUT:
            raise RecordingError(
                f"the joint does not come to rest at {sample.position:.3f} rad, {coasted:.3f} rad "
                f"and {waited:.1f} s after it was driven: something pushes it, or its friction is "
                "less than the error of the gravity model: use the method sweep"
            )
        self._recent.append(sample)
        while sample.time - self._recent[0].time > AT_REST:
            self._recent.popleft()
        positions = [it.position for it in self._recent]
        if waited >= RELEASE and max(positions) - min(positions) < RESTS:
            self._recent.clear()
            self._released = None
            if not (self.path.passed(sample.position) and self.path.done):
                self._check_progress(sample.position)
                self._ramp = [sample]
        return sample.gravity

    def _check_progress(self, position: float) -> None:
        """Raise RecordingError for a joint that slides back from every push."""
        legs, way = len(self.path.legs), self.path.remaining(position)
        if (legs, way) < (self._least[0], self._least[1] - RESTS):
            self._least, self._fruitless = (legs, way), 0
            return
        self._fruitless += 1
        if self._fruitless > FRUITLESS:
            raise RecordingError(
                f"the joint slides back to {position:.3f} rad from every push: another joint moves "
                "it, or its friction is less than the error of the gravity model"
            )

    def _push(self, sample: Sample) -> float:
        start, direction = self._ramp[0], self.path.direction
        moved = direction * (sample.position - start.position)
        if moved < -self._threshold:
            raise RecordingError(
                f"the joint moves {direction_in_words(-direction)} at {sample.position:.3f} rad "
                f"while it is driven {direction_in_words(direction)}: something pushes it"
            )
        self._ramp.append(sample)
        if moved > self._threshold:
            self._note(start.position, direction)
            self._ramp = []
            return sample.gravity
        effort = self._begin + self._rate * (sample.time - start.time)
        if effort > self.bounds.max_effort:
            raise RecordingError(
                f"{self.bounds.max_effort:g} Nm do not move the joint "
                f"{direction_in_words(direction)} from {start.position:.3f} rad: a stop or an "
                "obstacle is there, or it needs a larger --max-effort"
            )
        return sample.gravity + direction * effort

    def _note(self, position: float, direction: int) -> None:
        """Keep the effort with which the joint left `position`; the ramp has gone on since.

        Motion begins at half the threshold: gears deform by less before they break away. A ramp
        that
        began with too much effort gives no sample; the next ramp begins with 0.
        """
        half = 0.5 * self._threshold
        at_rest = [it for it in self._ramp if direction * (it.position - position) <= half]
        effort = direction * (at_rest[-1].effort - at_rest[-1].gravity)
        if at_rest[-1].time - self._ramp[0].time < SHORTEST:
            if self._begin == 0.0:
                raise RecordingError(
                    f"the joint moves from {position:.3f} rad before it is driven: something "
                    "pushes it"
                )
            self._begin = 0.0
            return
        self._samples.append(FrictionSample(direction, position, direction * effort))
        # Faster ramps would be read too late, slower ones take time.
        fastest = self.bounds.max_effort / FIRST_RAMP
        self._rate = min(max(effort / RAMP, SLOWEST * fastest), fastest)
        self._begin = max(BEGIN * effort, 0.0)
