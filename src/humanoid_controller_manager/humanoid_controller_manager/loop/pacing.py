"""The loop's pace: waiting for the next tick, and statistics of period and execution time."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.robot.joints import FloatArray

WINDOW = 4096  # ticks in the statistics


@dataclass(frozen=True, slots=True)
class TimingSummary:
    """Summary of the latest ticks. Times in [s]; all 0 before the third tick."""

    ticks: int  # since the start
    overruns: int  # since the start: ticks that began at least one period late
    period_mean: float
    period_p99: float
    period_max: float
    execution_median: float
    execution_p99: float
    execution_max: float


class TimingStatistics:
    """Period and execution time of the latest ticks, kept without allocation."""

    def __init__(self) -> None:
        self.overruns = 0
        self.latest_execution = 0.0  # [s]
        self._ticks = 0
        self._starts = np.zeros(WINDOW)
        self._executions = np.zeros(WINDOW)

    def record(self, start: float, execution: float) -> None:
        """Record a tick that began at `start` and took `execution` [s]."""
        slot = self._ticks % WINDOW
        self._starts[slot] = start
        self._executions[slot] = self.latest_execution = execution
        self._ticks += 1

    def summary(self) -> TimingSummary:
        """Return the summary of the latest ticks. Called by any thread."""
        ticks = self._ticks
        if ticks < 3:
            return TimingSummary(ticks, self.overruns, *([0.0] * 6))
        starts = self._latest(self._starts, ticks)
        executions = self._latest(self._executions, ticks)
        periods = np.diff(starts)
        return TimingSummary(
            ticks,
            self.overruns,
            float(periods.mean()),
            _quantile(periods, 0.99),
            float(periods.max()),
            _quantile(executions, 0.5),
            _quantile(executions, 0.99),
            float(executions.max()),
        )

    @staticmethod
    def _latest(ring: FloatArray, ticks: int) -> FloatArray:
        if ticks < WINDOW:
            return ring[:ticks].copy()
        # Drop the oldest: the loop may overwrite it while this thread copies.
        return np.roll(ring, -(ticks % WINDOW))[1:]


def _quantile(values: FloatArray, share: float) -> float:
    """Return what numpy's quantile returns, which takes several times as long."""
    place = share * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    ordered = np.partition(values, (below, above))
    first, second = float(ordered[below]), float(ordered[above])
    return first + (second - first) * (place - below)


class Pacer:
    """Waits for the next tick on absolute time, so that delays do not add up.

    Args:
        period: [s] of wall time between two ticks; 0 = no wait.
        idle_until: uses the time up to a deadline [s of the machine's clock].

    A tick that begins a whole period late is an overrun: the missed ticks are skipped.
    """

    def __init__(
        self,
        period: float,
        statistics: TimingStatistics,
        machine: Machine,
        idle_until: Callable[[float], None],
    ) -> None:
        self._period = period
        self._statistics = statistics
        self._machine = machine
        self._idle_until = idle_until
        self._deadline = machine.clock()

    def wait(self, correction: float = 0.0) -> None:
        """Return when the next tick is due, `correction` [s] later than a period after the last."""
        if self._period == 0.0:
            return
        self._deadline += self._period + correction
        remaining = self._deadline - self._machine.clock()
        if remaining > 0.0:
            self._idle_until(self._deadline)
            remaining = self._deadline - self._machine.clock()
            if remaining > 0.0:
                self._machine.sleep(remaining)
        elif remaining <= -self._period:
            self._statistics.overruns += 1
            self._deadline += (-remaining // self._period) * self._period
