"""How the control loop and its hardware are doing, for /diagnostics. No ROS here."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from humanoid_control_common.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_controller_manager.hardware import Diagnoses, HardwareInfo
from humanoid_controller_manager.loop import ControlLoop
from humanoid_controller_manager.loop_diagnoses import hardware, limits, mode, timing, watchdogs
from humanoid_controller_manager.runner import LoopRunner

SHORTEST: Final = 0.1  # [s] between two reports, however often something changes


@dataclass(frozen=True, slots=True)
class Progress:
    """How far something had come at the latest report."""

    ticks: int = -1
    ticked_at: float = 0.0  # [s] when a new tick was seen last
    overruns: int = 0
    fall: int = 0  # number of the fall looked at last
    fallen_into: int = -1  # switch number that it led to


class Diagnostician:
    """Reports on the loop and its hardware. All methods are for one thread, not the loop's.

    What is bad while it goes on (overruns, limited commands) is judged since the report before.
    """

    def __init__(
        self,
        loop: ControlLoop,
        runner: LoopRunner,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._loop, self._runner, self._monotonic = loop, runner, monotonic
        self._before = Progress()
        self._limited = loop.limits.counts.copy()
        self._levels: tuple[object, ...] = ()
        self._reported = -math.inf  # [s]

    def changed(self) -> bool:
        """Whether something has become better or worse that is worth a report of its own."""
        if self._monotonic() - self._reported < SHORTEST:
            return False
        snapshot = self._loop.snapshot
        levels = tuple(report.level for report in snapshot.reports)
        fall = snapshot.fall and snapshot.fall.number
        before, self._levels = self._levels, (levels, fall, snapshot.remark)
        return before != self._levels

    def report(self) -> list[Diagnosis]:
        """One diagnosis each of the loop's parts, of all components, and what they tell more."""
        snapshot, before = self._loop.snapshot, self._before
        overruns, fall = self._runner.statistics.overruns, snapshot.fall
        number = fall.number if fall else 0
        into = snapshot.switch_number if number != before.fall else before.fallen_into
        self._reported = now = self._monotonic()
        ticked_at = now if snapshot.tick != before.ticks else before.ticked_at
        self._before = Progress(snapshot.tick, ticked_at, overruns, number, into)
        return [
            timing(self._runner, overruns - before.overruns, now - ticked_at),
            mode(snapshot, fallen=snapshot.switch_number == into),
            self._limits(),
            *(hardware(report) for report in snapshot.reports),
            watchdogs(self._loop.hardware.members),
            *self._details(),
        ]

    def _limits(self) -> Diagnosis:
        counts, before = self._loop.limits.counts.copy(), self._limited
        self._limited = counts
        return limits(counts, counts - before, self._loop.hardware.joints.names)

    def _details(self) -> list[Diagnosis]:
        return [
            diagnosis
            for member in self._loop.hardware.members
            if isinstance(member.component, Diagnoses)
            for diagnosis in _asked(member.component, member.info)
        ]


def _asked(component: Diagnoses, info: HardwareInfo) -> Sequence[Diagnosis]:
    """What a component says. Its mistake must not end the process that it runs in."""
    try:
        return component.diagnose()
    except Exception as error:
        text = f"diagnose failed: {error!r}"
        return [Diagnosis(f"bus: {info.name}", DiagnosisLevel.ERROR, text, source=info.name)]
