"""Diagnoses of the control loop's parts, each from what is known of it. No ROS here."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.diagnosis import Diagnosis, DiagnosisLevel, level_of
from humanoid_control_common.safety import SafetyReport
from humanoid_controller_manager.hardware_member import Member
from humanoid_controller_manager.limits import Limited
from humanoid_controller_manager.runner import LoopRunner
from humanoid_controller_manager.snapshot import Phase, Snapshot
from humanoid_controller_manager.without_effect import INTERFACES

Counts: TypeAlias = NDArray[np.int64]  # (kinds, n)

TIMING: Final = "control loop: timing"
MODE: Final = "control loop: mode"
COMMANDS: Final = "control loop: commands"
LIMITS: Final = "control loop: limits"
WATCHDOGS: Final = "joints: watchdogs"
STANDSTILL: Final = 1.0  # [s] without a tick
MOST_NAMED: Final = 3  # joints named in a message; the values have them all


def timing(runner: LoopRunner, new_overruns: int, still: float, overwritten: int) -> Diagnosis:
    """Pace and execution time of the loop, which has had no tick for `still` [s].

    `overwritten` snapshots were replaced by the next before the publisher came to them.

    WARN while ticks are being missed, ERROR while there are none.
    """
    summary = runner.statistics.summary()
    values = {
        "ticks": str(summary.ticks),
        "overruns": str(summary.overruns),
        "period mean [ms]": f"{summary.period_mean * 1e3:.3f}",
        "period p99 [ms]": f"{summary.period_p99 * 1e3:.3f}",
        "period max [ms]": f"{summary.period_max * 1e3:.3f}",
        "execution median [us]": f"{summary.execution_median * 1e6:.1f}",
        "execution p99 [us]": f"{summary.execution_p99 * 1e6:.1f}",
        "execution max [us]": f"{summary.execution_max * 1e6:.1f}",
        "not published": str(overwritten),
        "real-time": runner.realtime_state,
    }
    if still > STANDSTILL:
        text = f"the loop stands still: no tick for {still:.1f} s"
        return Diagnosis(TIMING, DiagnosisLevel.ERROR, text, values)
    if new_overruns:
        text = f"{new_overruns} overrun{'s' if new_overruns > 1 else ''} since the last report"
        return Diagnosis(TIMING, DiagnosisLevel.WARN, text, values)
    return Diagnosis(TIMING, DiagnosisLevel.OK, "on time", values)


def mode(snapshot: Snapshot, *, fallen: bool) -> Diagnosis:
    """Which controller is in charge; WARN if another was left for it, or if it has a remark."""
    fall = snapshot.fall
    preparing = snapshot.phase is Phase.PREPARING
    values = {
        "controller": snapshot.controller,
        "switch number": str(snapshot.switch_number),
        "phase": snapshot.phase.value,
        "not confirmed by": snapshot.unconfirmed or "nobody",
        "falls": str(fall.number if fall else 0),
        "latest fall": fall.reason if fall else "none",
    }
    if fall and fallen:
        text = f"{snapshot.mode.name}, fallen: {fall.reason}"
        return Diagnosis(MODE, DiagnosisLevel.WARN, text, values)
    if snapshot.remark:
        text = f"{snapshot.mode.name}: {snapshot.remark}"
        return Diagnosis(MODE, DiagnosisLevel.WARN, text, values)
    text = f"{snapshot.mode.name}, preparing" if preparing else snapshot.mode.name
    return Diagnosis(MODE, DiagnosisLevel.OK, text, values)


def hardware(report: SafetyReport) -> Diagnosis:
    """One component's safety report."""
    return Diagnosis(
        f"hardware: {report.source}",
        level_of(report.level),
        report.message or report.level.name,
        {"flags": report.flags.name or str(int(report.flags))},
        report.source,
    )


def limits(counts: Counts, new: Counts, names: Sequence[str]) -> Diagnosis:
    """What the limit stage has limited, all (kinds, n), and since the report before."""
    values = {
        f"{name} {kind.name.lower()}": str(counts[kind, i])
        for i, name in enumerate(names)
        for kind in Limited
        if counts[kind, i]
    }
    if not new.any():
        text = f"{int(counts.sum())} limited commands since the start"
        return Diagnosis(LIMITS, DiagnosisLevel.OK, text, values)
    kinds = [kind.name.lower() for kind in Limited]
    text = f"commands are being limited: {_kinds_of(new, names, kinds)}"
    return Diagnosis(LIMITS, DiagnosisLevel.WARN, text, values)


def without_effect(counts: Counts, new: Counts, names: Sequence[str]) -> Diagnosis:
    """What was asked of joints that can't act on it, both (interfaces, n), and since the report."""
    values = {
        f"{name} {kind}": str(counts[row, i])
        for i, name in enumerate(names)
        for row, kind in enumerate(INTERFACES)
        if counts[row, i]
    }
    if not new.any():
        return Diagnosis(COMMANDS, DiagnosisLevel.OK, "what is asked for can act", values)
    text = f"asked for what can't act: {_kinds_of(new, names, INTERFACES)}"
    return Diagnosis(COMMANDS, DiagnosisLevel.WARN, text, values)


def watchdogs(members: Sequence[Member]) -> Diagnosis:
    """After how long each joint lets go by itself when this computer says nothing any more."""
    values, unwatched = {}, []
    for member in members:
        for name, time in member.watchdogs().items():
            values[f"{name} [s]"] = "none" if isinf(time) else f"{time:g}"
            if isinf(time):
                unwatched.append(name)
    if unwatched:
        text = f"joints without a watchdog of their own: {', '.join(unwatched)}"
    else:
        text = "every joint lets go by itself" if values else "none: this robot is simulated"
    return Diagnosis(WATCHDOGS, DiagnosisLevel.OK, text, values)


def _kinds_of(new: Counts, names: Sequence[str], kinds: Sequence[str]) -> str:
    """The joints of which something is counted, and which of the `kinds` (rows)."""
    joints = np.flatnonzero(new.any(axis=0)).tolist()
    parts = [
        f"{names[i]} ({', '.join(kind for row, kind in enumerate(kinds) if new[row, i])})"
        for i in joints[:MOST_NAMED]
    ]
    more = f" and {len(joints) - MOST_NAMED} more" if len(joints) > MOST_NAMED else ""
    return f"{', '.join(parts)}{more}"
