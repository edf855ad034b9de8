"""Records the imports that ticks of the control loop execute."""

from __future__ import annotations

import builtins
import sys
from types import ModuleType
from typing import Any

import pytest
from greenlet import getcurrent, greenlet

from humanoid_controller_manager.loop.control_loop import ControlLoop


class ImportsInTicks:
    """Records each import in a tick, also of a module that is loaded: once it was not."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.found: set[tuple[str, str]] = set()  # module, and file that imports it
        self.ticks = 0
        self._task: greenlet | None = None  # that runs a tick
        self._tick, self._import = ControlLoop.tick, builtins.__import__

        def tick(loop: ControlLoop, *given: Any) -> None:
            self._during_tick(loop, *given)

        monkeypatch.setattr(ControlLoop, "tick", tick)
        monkeypatch.setattr(builtins, "__import__", self._recorded)

    def _during_tick(self, *given: Any) -> None:
        self._task, self.ticks = getcurrent(), self.ticks + 1
        try:
            self._tick(*given)
        finally:
            self._task = None

    def _recorded(self, name: str, *given: Any, **named: Any) -> ModuleType:
        if getcurrent() is self._task:
            self.found.add((name, sys._getframe(1).f_code.co_filename))
        return self._import(name, *given, **named)
