"""How the control loop and its hardware are doing, for /diagnostics. No ROS here."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from humanoid_control_common.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_controller_manager.hardware_member import COMPONENT_ERRORS, Member
from humanoid_controller_manager.loop import ControlLoop
from humanoid_controller_manager.loop_diagnoses import (
    hardware,
    limits,
    mode,
    timing,
    watchdogs,
    without_effect,
)
from humanoid_controller_manager.runner import LoopRunner
from humanoid_controller_manager.snapshot import Snapshot

SHORTEST: Final = 0.1  # [s] between two reports of a change, however often something changes


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

    Args:
        overwritten: counts the snapshots that were never published.
    """

    def __init__(
        self,
        loop: ControlLoop,
        runner: LoopRunner,
        overwritten: Callable[[], int],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._loop, self._runner, self._monotonic = loop, runner, monotonic
        self._overwritten = overwritten
        self._before = Progress()
        self._limited = loop.limits.counts.copy()
        self._in_vain = loop.without_effect.counts.copy()
        self._told: tuple[object, ...] = ()  # what the latest report told
        self._change_told = -math.inf  # [s] when a report told of a change last

    def due(self) -> float | None:
        """How long [s] a report of its own has to wait; None if nothing became better or worse."""
        if _worth_telling(self._loop.snapshot) == self._told:
            return None
        return max(0.0, self._change_told + SHORTEST - self._monotonic())

    def report(self) -> list[Diagnosis]:
        """One diagnosis each of the loop's parts, of all components, and what they tell more."""
        snapshot, before = self._loop.snapshot, self._before
        overruns, fall = self._runner.statistics.overruns, snapshot.fall
        number = fall.number if fall else 0
        into = snapshot.switch_number if number != before.fall else before.fallen_into
        now, state = self._monotonic(), _worth_telling(snapshot)
        if state != self._told:
            self._told, self._change_told = state, now
        ticked_at = now if snapshot.tick != before.ticks else before.ticked_at
        self._before = Progress(snapshot.tick, ticked_at, overruns, number, into)
        return [
            timing(self._runner, overruns - before.overruns, now - ticked_at, self._overwritten()),
            mode(snapshot, fallen=snapshot.switch_number == into),
            self._limits(),
            self._without_effect(),
            *(hardware(report) for report in snapshot.reports),
            watchdogs(self._loop.hardware.members),
            *self._details(),
        ]

    def _limits(self) -> Diagnosis:
        counts, before = self._loop.limits.counts.copy(), self._limited
        self._limited = counts
        return limits(counts, counts - before, self._loop.hardware.joints.names)

    def _without_effect(self) -> Diagnosis:
        counts, before = self._loop.without_effect.counts.copy(), self._in_vain
        self._in_vain = counts
        return without_effect(counts, counts - before, self._loop.hardware.joints.names)

    def _details(self) -> list[Diagnosis]:
        return [diagnosis for member in self._loop.hardware.members for diagnosis in _asked(member)]


def _worth_telling(snapshot: Snapshot) -> tuple[object, ...]:
    """What is worth a report of its own when it changes."""
    levels = tuple(report.level for report in snapshot.reports)
    return levels, snapshot.fall and snapshot.fall.number, snapshot.remark


def _asked(member: Member) -> Sequence[Diagnosis]:
    """What a component says. Its mistake must not end the process that it runs in."""
    try:
        return member.diagnose()
    except COMPONENT_ERRORS as error:
        text, name = f"diagnose failed: {error!r}", member.info.name
        return [Diagnosis(f"bus: {name}", DiagnosisLevel.ERROR, text, source=name)]
