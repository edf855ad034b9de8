"""Timing statistics that store the start of every tick; the control loop's own store a window."""

from __future__ import annotations

import json
from array import array
from pathlib import Path

from humanoid_controller_manager.loop.loop_thread import LoopThread
from humanoid_controller_manager.loop.pacing import TimingStatistics


class Recording(TimingStatistics):
    """Statistics with all ticks; to be set in a runner before its start."""

    def __init__(self, runner: LoopThread) -> None:
        super().__init__()
        self._runner = runner
        self._recorded = array("d")
        runner.statistics = self

    def record(self, start: float, execution: float) -> None:
        """See TimingStatistics."""
        super().record(start, execution)
        self._recorded.append(start)

    def save(self, path: Path) -> None:
        """Write the starts [s] and the granted scheduling of the loop's thread, as JSON."""
        content = {"realtime": self._runner.realtime_state, "starts": self._recorded.tolist()}
        path.write_text(json.dumps(content), encoding="utf-8")
