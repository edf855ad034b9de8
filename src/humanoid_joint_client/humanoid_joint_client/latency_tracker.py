"""Measures the times of a stream from what is sent and the states that come back."""

import threading
from collections import OrderedDict
from typing import Final

from humanoid_joint_client.latency import LatencyReport, Times
from humanoid_joint_client.state import JointStates

_WAITING: Final = 4096  # keys whose echo has not come
_SKEW: Final = 20_000_000  # [ns] an echo may seem too early: clocks' offset, begin of its tick


class LatencyTracker:
    """Called by any thread. All times in [ns] of the robot's clock."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._received: OrderedDict[int, int] = OrderedDict()  # key: time of sending
        self._applied: OrderedDict[int, int] = OrderedDict()
        self._one_way, self._echo, self._gap = Times(), Times(), Times()
        self._arrived: int | None = None  # of the latest state

    def sent(self, key: int, time: int) -> None:
        """Note an update; the key 0 is none."""
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
