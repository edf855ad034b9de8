"""Keeps the start of every tick, where the control loop's own statistics look back a window."""

from __future__ import annotations

import json
from array import array
from pathlib import Path

from humanoid_controller_manager.runner import LoopRunner
from humanoid_controller_manager.timing import TimingStatistics


class Recording(TimingStatistics):
    """Statistics that forget nothing; to be put into a runner before it starts."""

    def __init__(self, runner: LoopRunner) -> None:
        super().__init__()
        self._runner = runner
        self._recorded = array("d")
        runner.statistics = self

    def record(self, start: float, execution: float) -> None:
        """See TimingStatistics."""
        super().record(start, execution)
        self._recorded.append(start)

    def save(self, path: Path) -> None:
        """Write the starts [s] and what the loop's thread was granted, as JSON."""
        content = {"realtime": self._runner.realtime_state, "starts": self._recorded.tolist()}
        path.write_text(json.dumps(content), encoding="utf-8")
