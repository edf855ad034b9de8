"""Publish /diagnostics: the loop, its hardware components and its controllers."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

import numpy as np
from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.robot.robot_namespace import ROOT, frame_prefix
from humanoid_control_common.rules.diagnosis import CODES, Diagnosis, DiagnosisLevel
from humanoid_controller_manager.hardware.member import Member
from humanoid_controller_manager.loop.control_loop import ControlLoop
from humanoid_controller_manager.loop.loop_thread import LoopThread
from humanoid_controller_manager.loop.snapshot import Snapshot
from humanoid_controller_manager.plugin_texts import PLUGIN_ERRORS
from humanoid_controller_manager.reason_codes import DIAGNOSE_FAILED
from humanoid_controller_manager.safety.limit_stage import Limited
from humanoid_controller_manager.safety.loop_diagnoses import (
    Counts,
    gravity,
    hardware,
    limits,
    mode,
    ranges,
    self_collision,
    standing,
    timing,
    watchdogs,
    without_effect,
)

AT_ONCE: Final = 4  # statuses, about 0.1 ms
MOST_ARRAYS: Final = 8  # fewer than the usual queue depth of 10


def diagnostic_arrays(
    stamp: Time, diagnoses: Sequence[Diagnosis], namespace: str = ROOT
) -> Iterator[DiagnosticArray]:
    """Yield `diagnoses` of the robot in `namespace` in several messages, in order.

    rclpy converts a message without letting other threads run: small messages keep ticks on time.
    """
    size = max(AT_ONCE, ceil(len(diagnoses) / MOST_ARRAYS))
    for first in range(0, len(diagnoses), size):
        yield diagnostic_array(stamp, diagnoses[first : first + size], namespace)


def diagnostic_array(
    stamp: Time, diagnoses: Iterable[Diagnosis], namespace: str = ROOT
) -> DiagnosticArray:
    """Return the message for /diagnostics. In a namespace the hardware ids begin with it."""
    array = DiagnosticArray(status=[_status(diagnosis, namespace) for diagnosis in diagnoses])
    array.header.stamp = stamp
    return array


def _status(diagnosis: Diagnosis, namespace: str) -> DiagnosticStatus:
    values = dict(diagnosis.values)
    if diagnosis.codes:
        values[CODES] = " ".join(diagnosis.codes)
    return DiagnosticStatus(
        level=bytes([diagnosis.level]),
        name=diagnosis.name,
        message=diagnosis.message,
        hardware_id=f"{frame_prefix(namespace)}{diagnosis.source}" if diagnosis.source else "",
        values=[KeyValue(key=key, value=value) for key, value in values.items()],
    )


SHORTEST: Final = 0.1  # [s] between two reports of a change, however often something changes


@dataclass(frozen=True, slots=True)
class _Counters:
    """The counters at the latest report."""

    ticks: int = -1
    ticked_at: float = 0.0  # [s] of the latest new tick
    overruns: int = 0
    fall: int = 0  # number of the latest fall
    fallen_into: int = -1  # switch number that it led to


class _NewCounts:
    """Finds the counts since the report before. `counts` is updated by the loop."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._before = counts.copy()

    def take(self) -> tuple[Counts, Counts]:
        """Return the counts in all, and since the last call."""
        counts, before = self._counts.copy(), self._before
        self._before = counts
        return counts, counts - before


class Diagnostician:
    """Reports on the loop and its hardware. Used by one thread, not the loop's.

    Counted problems (overruns, limited commands) are judged since the report before.

    Args:
        overwritten: returns the number of snapshots that were never published.
        beside: returns the diagnoses of other parts of the process.
    """

    def __init__(
        self,
        loop: ControlLoop,
        loop_thread: LoopThread,
        overwritten: Callable[[], int],
        beside: Callable[[], Sequence[Diagnosis]],
        monotonic: Callable[[], float] = LINUX.clock,
    ) -> None:
        self._loop, self._loop_thread, self._monotonic = loop, loop_thread, monotonic
        self._overwritten, self._beside = overwritten, beside
        self._before = _Counters()
        self._limited = _NewCounts(loop.limits.counts)
        self._ineffective = _NewCounts(loop.ineffective_commands.counts)
        held = loop.gravity
        none = np.zeros((1, len(loop.joints)), dtype=np.int64)
        self._unheld = _NewCounts(none if held is None else held.limited)
        self._reported: tuple[object, ...] = ()  # state at the latest report, see `_state_of`
        self._change_reported = -math.inf  # [s] of the latest report of a change

    def due(self) -> float | None:
        """Return how long [s] to wait with a report of a change; None if nothing changed."""
        if _state_of(self._loop.snapshot, self._beside()) == self._reported:
            return None
        return max(0.0, self._change_reported + SHORTEST - self._monotonic())

    def report(self) -> list[Diagnosis]:
        """Return diagnoses of the loop's parts and of all components, with their own diagnoses."""
        snapshot, before = self._loop.snapshot, self._before
        overruns, fall = self._loop_thread.statistics.overruns, snapshot.fall
        number = fall.number if fall else 0
        into = snapshot.switch_number if number != before.fall else before.fallen_into
        beside = self._beside()
        now, state = self._monotonic(), _state_of(snapshot, beside)
        joints = self._loop.hardware.joints.names
        if state != self._reported:
            self._reported, self._change_reported = state, now
        ticked_at = now if snapshot.tick != before.ticks else before.ticked_at
        self._before = _Counters(snapshot.tick, ticked_at, overruns, number, into)
        limit_stage, (counts, new) = self._loop.limits, self._limited.take()
        return [
            timing(
                self._loop_thread, overruns - before.overruns, now - ticked_at, self._overwritten()
            ),
            mode(snapshot, fallen=snapshot.switch_number == into),
            *beside,
            self_collision(limit_stage.self_collision, int(new[Limited.SELF_COLLISION].max())),
            gravity(self._loop.gravity, *self._unheld.take(), joints),
            limits(counts, new, joints),
            ranges(snapshot.state_array[0], limit_stage.joint_limits, joints),
            standing(self._loop.measurement_check, joints),
            without_effect(*self._ineffective.take(), joints),
            *(hardware(report) for report in snapshot.reports),
            watchdogs(self._loop.hardware.members),
            *(it for member in self._loop.hardware.members for it in _diagnoses_of(member)),
        ]


def _state_of(snapshot: Snapshot, beside: Sequence[Diagnosis]) -> tuple[object, ...]:
    """Return the state whose change is worth a report of its own."""
    levels = [*(report.level for report in snapshot.reports), *(it.level for it in beside)]
    return tuple(levels), snapshot.fall and snapshot.fall.number, snapshot.remark


def _diagnoses_of(member: Member) -> Sequence[Diagnosis]:
    """Return the component's diagnoses. Its errors must not end the process."""
    try:
        return member.diagnose()
    except PLUGIN_ERRORS as error:
        text, name = f"diagnose failed: {error!r}", member.info.name
        codes = (DIAGNOSE_FAILED.name,)
        return [Diagnosis(f"bus: {name}", DiagnosisLevel.ERROR, text, source=name, codes=codes)]
