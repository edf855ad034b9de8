"""Keeps the loop's frames at a fixed place between two SYNC0 pulses of the distributed clock."""

from __future__ import annotations

from typing import Final

# Shares of the phase error that are corrected per cycle: critically damped (integral = p² / 4),
# settled after about 60 cycles. Small, because one late frame is no reason to move the next.
PROPORTIONAL: Final = 0.1
INTEGRAL: Final = PROPORTIONAL**2 / 4
LARGEST: Final = 0.02  # of the period: what one cycle may be longer or shorter
# What two quartz clocks may differ by, generously; keeps the integral from running away.
LARGEST_DRIFT: Final = 1e-3
PHASE: Final = 0.5  # of the period after SYNC0: as far as can be from both neighbours


class DcLock:
    """Proportional-integral control of the phase of the frames against SYNC0.

    SYNC0 fires at the multiples of its period on the distributed clock. The error is taken the
    short way around the wanted phase, so that frames on their way there never pass a SYNC0.
    """

    def __init__(self, period_ns: int) -> None:
        """`period_ns`: from frame to frame; SYNC0's period, or a whole part of it."""
        self._period = period_ns
        self._drift = 0.0  # [ns] per cycle
        self._correction = 0.0  # [ns] that nobody has taken yet
        self.error = 0.0  # [s] that the latest frame was late

    def update(self, dc_time: int) -> None:
        """A frame passed the reference clock at `dc_time` [ns]."""
        period = self._period
        wanted = PHASE * period
        error = (dc_time % period - wanted + period / 2) % period - period / 2
        largest, drift = LARGEST * period, LARGEST_DRIFT * period
        self._drift = min(max(self._drift + INTEGRAL * error, -drift), drift)
        later = -(PROPORTIONAL * error + self._drift)
        self._correction = min(max(later, -largest), largest)
        self.error = error * 1e-9

    def take(self) -> float:
        """By how much the next frame is to come later [s], negative sooner; given once."""
        correction, self._correction = self._correction, 0.0
        return correction * 1e-9
