"""Measure the times of a stream from its updates and the states that answer them."""

import threading
from collections import OrderedDict, deque
from dataclasses import dataclass
from typing import Final

import numpy as np

from humanoid_joint_client.state import JointStates

KEPT: Final = 100_000  # values of each kind
_WAITING: Final = 4096  # keys whose echo has not arrived
_SKEW: Final = 20_000_000  # [ns] an echo may seem too early: clocks' offset, begin of its tick


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Quantiles of times [ms]; NaN without any."""

    count: int
    p50: float
    p99: float
    largest: float

    def __str__(self) -> str:
        if not self.count:
            return "none"
        return f"p50 {self.p50:.2f} ms, p99 {self.p99:.2f} ms, max {self.largest:.2f} ms"


@dataclass(frozen=True, slots=True)
class LatencyReport:
    """Times of a stream."""

    one_way: Quantiles  # from `send` to the server's receipt, by the synchronized clock
    echo: Quantiles  # from `send` to the state that has its key as applied
    state_gap: Quantiles  # between the arrivals of two states

    def __str__(self) -> str:
        return f"one way: {self.one_way}\necho: {self.echo}\nstate gap: {self.state_gap}"


class Times:
    """Collects times [ns], the latest KEPT."""

    def __init__(self) -> None:
        self._values: deque[int] = deque(maxlen=KEPT)

    def add(self, value: int) -> None:
        """Take one time [ns]."""
        self._values.append(value)

    def quantiles(self) -> Quantiles:
        """Return what was collected."""
        values = np.array(self._values, dtype=np.float64) * 1e-6
        if not len(values):
            return Quantiles(0, np.nan, np.nan, np.nan)
        p50, p99 = np.quantile(values, (0.5, 0.99))
        return Quantiles(len(values), float(p50), float(p99), float(values.max()))


class LatencyTracker:
    """Called by any thread. All times in [ns] of the robot's clock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._received: OrderedDict[int, int] = OrderedDict()  # key: time of sending
        self._applied: OrderedDict[int, int] = OrderedDict()
        self._one_way, self._echo, self._gap = Times(), Times(), Times()
        self._arrived: int | None = None  # of the latest state

    def sent(self, key: int, time: int) -> None:
        """Note an update; the key 0 is not tracked."""
        if key == 0:
            return
        with self._lock:
            for waiting in (self._received, self._applied):
                waiting[key] = time
                if len(waiting) > _WAITING:
                    waiting.popitem(last=False)

    def arrived(self, state: JointStates) -> None:
        """Note a state."""
        with self._lock:
            if self._arrived is not None:
                self._gap.add(state.arrived - self._arrived)
            self._arrived = state.arrived
            sent = _echoed(self._received, state.received_key, state.received)
            if sent is not None:
                self._one_way.add(state.received - sent)
            sent = _echoed(self._applied, state.applied_key, state.applied)
            if sent is not None:
                self._echo.add(state.arrived - sent)

    def skip_gap(self) -> None:
        """Do not count the time to the next state: a stream of states begins."""
        with self._lock:
            self._arrived = None

    def report(self) -> LatencyReport:
        """Return what was measured so far."""
        with self._lock:
            return LatencyReport(
                self._one_way.quantiles(), self._echo.quantiles(), self._gap.quantiles()
            )


def _echoed(waiting: OrderedDict[int, int], key: int, time: int) -> int | None:
    """Return when the update `key`, which the robot had at `time`, was sent.

    None: it does not wait, or the robot had the same key from an earlier client.
    """
    sent = waiting.get(key)
    if sent is None or time < sent - _SKEW:
        return None
    return waiting.pop(key)
