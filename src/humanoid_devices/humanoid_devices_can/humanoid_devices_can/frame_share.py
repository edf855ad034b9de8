"""Share of the motors' frames that arrive."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray
from humanoid_devices_can.session.health import FrameCounts

WINDOW: Final = 1.0  # [s] shortest time over which frames are counted
LEAST: Final = 0.8  # share of a healthy bus on a busy machine
FEWEST: Final = 20  # frames expected in a window; with fewer, one late frame changes too much


class FrameShare:
    """Share of each motor's frames that arrived, in windows of about a second.

    A bus can lose frames without an error frame: an overloaded serial adapter drops them. A motor
    is not silent while some of them arrive.
    """

    def __init__(self, counts: FrameCounts) -> None:
        """`counts`: those of one session."""
        self.counts = counts
        motors = len(counts.answers)
        self.latest: FloatArray = np.full(motors, np.nan)  # 0 to 1; NaN: too few were expected
        # Share too small in two windows: a motor that is enabled again is silent for a moment.
        self.lacking: NDArray[np.bool_] = np.zeros(motors, dtype=np.bool_)
        self._low = self.lacking
        self._begin = -math.inf  # [s] of the window
        self._before = np.zeros((2, motors))

    def update(self, until: float) -> None:
        """End the window if it is long enough; all frames that came until `until` [s] count."""
        passed, rate = until - self._begin, self.counts.rate
        if passed < WINDOW:
            return
        counted = np.array([self.counts.answers, self.counts.requests], dtype=np.float64)
        answers, requests = counted - self._before
        first = not math.isfinite(passed)
        self._begin, self._before = until, counted
        if first:
            return
        expected = np.full(len(answers), rate * passed) if rate else requests
        known = expected >= FEWEST
        self.latest = np.where(known, np.minimum(answers / np.maximum(expected, 1.0), 1.0), np.nan)
        low = known & (self.latest < LEAST)
        self._low, self.lacking = low, low & self._low
