"""Diagnoses of the parts of the control loop. No ROS."""

from collections.abc import Sequence
from math import isinf
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray, JointLimits
from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel, level_of
from humanoid_control_common.rules.reasons import Reason
from humanoid_control_common.rules.safety import SafetyReport
from humanoid_controller_manager.hardware.member import Member
from humanoid_controller_manager.loop.loop_thread import LoopThread
from humanoid_controller_manager.loop.snapshot import Phase, Snapshot
from humanoid_controller_manager.reason_codes import (
    COMMANDS_LIMITED,
    COMMANDS_WITHOUT_EFFECT,
    CONTROLLER_REMARK,
    GRAVITY_NOT_HELD,
    JOINT_BEYOND_STOP,
    LINKS_TOO_NEAR,
    LOOP_STANDS_STILL,
    NO_WATCHDOG,
    OVERRUNS,
)
from humanoid_controller_manager.safety.gravity_compensation import GravityCompensation
from humanoid_controller_manager.safety.ineffective_commands import INTERFACES
from humanoid_controller_manager.safety.limit_stage import Limited
from humanoid_controller_manager.safety.measurement_check import MeasurementCheck
from humanoid_controller_manager.safety.self_collision import SelfCollisionStage

Counts: TypeAlias = NDArray[np.int64]  # (kinds, n)

TIMING: Final = "control loop: timing"
MODE: Final = "control loop: mode"
COMMANDS: Final = "control loop: commands"
SELF_COLLISION: Final = "control loop: self-collision"
GRAVITY: Final = "control loop: gravity"
LIMITS: Final = "control loop: limits"
RANGES: Final = "control loop: ranges"
STANDING: Final = "control loop: standing joints"
WATCHDOGS: Final = "joints: watchdogs"
STANDSTILL: Final = 1.0  # [s] without a tick
BEYOND: Final = 0.1  # [rad] beyond a limit: more than a stop yields (assumed)
MOST_NAMED: Final = 3  # joints named in a message; the values have them all


def timing(loop_thread: LoopThread, new_overruns: int, still: float, overwritten: int) -> Diagnosis:
    """Return pace and execution time of the loop, whose latest tick is `still` [s] old.

    `overwritten` snapshots were replaced by the next one before they were published.

    WARN if there were overruns, ERROR if the loop stands still.
    """
    summary = loop_thread.statistics.summary()
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
        "real-time": loop_thread.realtime_state,
    }
    if still > STANDSTILL:
        text = f"the loop stands still: no tick for {still:.1f} s"
        codes = (LOOP_STANDS_STILL.name,)
        return Diagnosis(TIMING, DiagnosisLevel.ERROR, text, values, codes=codes)
    if new_overruns:
        text = f"{new_overruns} overrun{'s' if new_overruns > 1 else ''} since the last report"
        return Diagnosis(TIMING, DiagnosisLevel.WARN, text, values, codes=(OVERRUNS.name,))
    return Diagnosis(TIMING, DiagnosisLevel.OK, "on time", values)


def mode(snapshot: Snapshot, *, fallen: bool) -> Diagnosis:
    """Return the controller in charge; WARN after a fall or if it has a remark."""
    fall = snapshot.fall
    preparing = snapshot.phase is Phase.PREPARING
    values = {
        "controller": snapshot.controller,
        "switch number": str(snapshot.switch_number),
        "phase": snapshot.phase.value,
        "not confirmed by": snapshot.unconfirmed or "none",
        "falls": str(fall.number if fall else 0),
        "latest fall": fall.reason.text if fall else "none",
    }
    if fall and fallen:
        text = f"{snapshot.mode.name}, fallen: {fall.reason}"
        return Diagnosis(MODE, DiagnosisLevel.WARN, text, values, codes=fall.reason.codes)
    if snapshot.remark:
        text = f"{snapshot.mode.name}: {snapshot.remark}"
        codes = (CONTROLLER_REMARK.name,)
        return Diagnosis(MODE, DiagnosisLevel.WARN, text, values, codes=codes)
    text = f"{snapshot.mode.name}, preparing" if preparing else snapshot.mode.name
    return Diagnosis(MODE, DiagnosisLevel.OK, text, values)


def hardware(report: SafetyReport) -> Diagnosis:
    """Return the safety report of one component."""
    return Diagnosis(
        f"hardware: {report.source}",
        level_of(report.level),
        report.message or report.level.name,
        {"flags": report.flags.name or str(int(report.flags))},
        report.source,
        report.codes,
    )


def self_collision(stage: SelfCollisionStage | None, slowed: int) -> Diagnosis:
    """Return the nearest links at the targets; WARN if these were `slowed` since the last report.

    Without a `stage` the robot has no SRDF.
    """
    name = SELF_COLLISION
    if stage is None:
        return Diagnosis(name, DiagnosisLevel.OK, "not checked: the robot has no SRDF")
    clearance = stage.clearance
    if clearance is None:
        return Diagnosis(name, DiagnosisLevel.OK, "no target has acted yet")
    values = {
        "distance [mm]": f"{1000 * clearance.distance:.0f}",
        "links": str(clearance.links or "none near"),
    }
    if slowed:
        text = f"targets are slowed down: {clearance}"
        codes = (LINKS_TOO_NEAR.name,)
        return Diagnosis(name, DiagnosisLevel.WARN, text, values, codes=codes)
    return Diagnosis(name, DiagnosisLevel.OK, str(clearance), values)


def gravity(
    held: GravityCompensation | None, counts: Counts, new: Counts, joints: Sequence[str]
) -> Diagnosis:
    """Return whether gravity is compensated; WARN if it was not wholly since the last report.

    `counts`, `new`: ticks in which a joint got less than it needs, (1, n).
    """
    if held is None:
        text = "not compensated: the masses of the description are unusable"
        return Diagnosis(GRAVITY, DiagnosisLevel.OK, text)
    payloads = ", ".join(str(it) for it in held.payloads) or "no payload"
    acts = bool(np.count_nonzero(held.added[1]))
    quiet = f"{'compensated' if acts else 'not compensated in this mode'}, {payloads}"
    why = " (joints of their chain are mocked)" if held.unknown.any() else ""
    texts = (quiet, Reason.of(GRAVITY_NOT_HELD, f"joints are not held against gravity{why}"))
    return _of_counts(GRAVITY, texts, ["ticks"], joints, counts, new)


def limits(counts: Counts, new: Counts, joints: Sequence[str]) -> Diagnosis:
    """Return what the limit stage limited: in all, and `new` since the last report (kinds, n)."""
    kinds = [kind.name.lower() for kind in Limited]
    quiet = f"{int(counts.sum())} limited commands since the start"
    texts = (quiet, Reason.of(COMMANDS_LIMITED, "commands are being limited"))
    return _of_counts(LIMITS, texts, kinds, joints, counts, new)


def ranges(position: FloatArray, limits: JointLimits, joints: Sequence[str]) -> Diagnosis:
    """Return how far the measured `position` [rad] (n,) is beyond the limits; WARN if BEYOND.

    A joint can't be there: its calibration, or the description, is wrong.
    """
    beyond = np.maximum(limits.lower - position, position - limits.upper)
    found = [
        f"{joints[i]} is measured at {position[i]:.2f} rad, {beyond[i]:.2f} rad beyond its limits"
        for i in np.flatnonzero(beyond > BEYOND).tolist()
    ]
    if not found:
        return Diagnosis(RANGES, DiagnosisLevel.OK, "no joint is measured beyond its stops")
    text = f"{', '.join(found)}: wrong calibration, or wrong limits in the description?"
    return Diagnosis(RANGES, DiagnosisLevel.WARN, text, codes=(JOINT_BEYOND_STOP.name,))


def without_effect(counts: Counts, new: Counts, joints: Sequence[str]) -> Diagnosis:
    """Return ineffective commands: in all, and `new` since the last report (interfaces, n)."""
    reason = Reason.of(COMMANDS_WITHOUT_EFFECT, "commanded values that cannot act")
    texts = ("all commanded values can act", reason)
    return _of_counts(COMMANDS, texts, INTERFACES, joints, counts, new)


def standing(check: MeasurementCheck | None, joints: Sequence[str]) -> Diagnosis:
    """Return the largest change of the pull that did not move a joint, and its bound."""
    if check is None:
        return Diagnosis(STANDING, DiagnosisLevel.OK, "not checked")
    pulls, bounds = check.standing_pull, check.standing_bound
    values = {
        f"{joint} [Nm]": f"{pull:.2f} of {bound:.2f}"
        for joint, pull, bound in zip(joints, pulls, bounds, strict=True)
    }
    nearest = int((pulls / bounds).argmax())
    text = (
        f"nearest to its bound: {joints[nearest]}, {pulls[nearest]:.2f} of {bounds[nearest]:.2f} Nm"
    )
    return Diagnosis(STANDING, DiagnosisLevel.OK, text, values)


def watchdogs(members: Sequence[Member]) -> Diagnosis:
    """Return after how long each joint releases by itself if this computer falls silent."""
    values, unwatched = {}, []
    for member in members:
        for name, time in member.watchdogs().items():
            values[f"{name} [s]"] = "none" if isinf(time) else f"{time:g}"
            if isinf(time):
                unwatched.append(name)
    if unwatched:
        text = f"joints without a watchdog of their own: {', '.join(unwatched)}"
    else:
        text = "every joint disables itself" if values else "none: this robot is simulated"
    codes = (NO_WATCHDOG.name,) if unwatched else ()
    return Diagnosis(WATCHDOGS, DiagnosisLevel.OK, text, values, codes=codes)


def _of_counts(
    name: str,
    texts: tuple[str, Reason],
    kinds: Sequence[str],
    joints: Sequence[str],
    counts: Counts,
    new: Counts,
) -> Diagnosis:
    """Return the first text if nothing is `new` (kinds, n), else the reason with the joints."""
    quiet, active = texts
    values = {
        f"{joint} {kind}": str(counts[row, i])
        for i, joint in enumerate(joints)
        for row, kind in enumerate(kinds)
        if counts[row, i]
    }
    counted = np.flatnonzero(new.any(axis=0)).tolist()
    if not counted:
        return Diagnosis(name, DiagnosisLevel.OK, quiet, values)
    parts = []
    for i in counted[:MOST_NAMED]:
        found = ", ".join(kind for row, kind in enumerate(kinds) if new[row, i])
        parts.append(f"{joints[i]} ({found})" if len(kinds) > 1 else joints[i])
    more = f" and {len(counted) - MOST_NAMED} more" if len(counted) > MOST_NAMED else ""
    text = f"{active}: {', '.join(parts)}{more}"
    return Diagnosis(name, DiagnosisLevel.WARN, text, values, codes=active.codes)
