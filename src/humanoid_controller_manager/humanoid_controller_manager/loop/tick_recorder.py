"""Write every tick into memory that outlives the process, for the black box."""

from __future__ import annotations

import logging
import struct
from collections.abc import Sequence
from typing import Final

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.robot.robot_namespace import ROOT
from humanoid_control_common.robot.ros_domain import own_domain
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport
from humanoid_control_common.tick_records.record_file import RecordFile, RecordStore
from humanoid_control_common.tick_records.record_layout import (
    CONTROLLER,
    TICK_END,
    TICK_HEAD,
    EventKind,
    RecordFacts,
    Word,
)
from humanoid_control_common.tick_records.record_ring import EventWriter, report_text
from humanoid_control_common.tick_records.record_types import tick_type
from humanoid_controller_manager.loop.control_loop import ControlLoop
from humanoid_controller_manager.loop.loop_thread import LoopThread
from humanoid_controller_manager.loop.snapshot import Phase, Snapshot
from humanoid_controller_manager.plugin_texts import PLUGIN_ERRORS
from humanoid_controller_manager.safety.limit_stage import Limited

SECONDS: Final = 60.0  # of ticks that are kept
# Topics under which the black box writes the ticks: those of the broadcaster.
STATES: Final = "prime/joint_states"
COMMANDS: Final = "prime/joint_commands"
_BLOCKS: Final = ("sources", "counters", "limited", "state", "command")

logger = logging.getLogger(__name__)


def tick_recorder(  # noqa: PLR0913 - the facts of a robot
    loop: ControlLoop,
    loop_thread: LoopThread,
    update_rate: float,
    urdf: str,
    records: RecordStore = RecordStore(),  # noqa: B008 - without state
    *,
    backend: str = "",
    namespace: str = ROOT,
    machine: Machine = LINUX,
) -> TickRecorder | None:
    """Return a recorder of `loop`; None, with a warning, if there is no memory: robots run without.

    The hardware is configured. `backend` is the bring-up's name of what moves the joints,
    `namespace` the robot's.
    """
    writer = records.writer()
    facts = RecordFacts(
        pid=writer.pid,
        process_start=writer.process_start,
        boot_id=writer.boot_id,
        domain=own_domain(),
        backend=backend,
        update_rate=update_rate,
        wall_period=loop_thread.wall_period,
        seconds=SECONDS,
        joints=loop.hardware.joints.names,
        sources=tuple(member.info.name for member in loop.hardware.members),
        counters=tuple(
            f"{member.info.name}: {name}"
            for member in loop.hardware.members
            for name in member.counters
        ),
        limited=tuple(kind.name.lower() for kind in Limited),
        robot_description=urdf,
        state_topic=STATES,
        command_topic=COMMANDS,
        namespace=namespace,
    )
    try:
        file = records.create(facts)
    except OSError as error:
        logger.warning("no tick recorder, so no black box and no joint stream: %s", error)
        return None
    if file.facts.seconds < SECONDS:
        logger.warning("memory is short: only %g s are recorded", file.facts.seconds)
    return TickRecorder(file, loop, loop_thread, machine)


class TickRecorder:
    """Copies each tick, in the loop's thread, with hardly any allocation.

    It never waits: the file is memory, no file system is involved.
    """

    def __init__(
        self, file: RecordFile, loop: ControlLoop, loop_thread: LoopThread, machine: Machine
    ) -> None:
        self.file, self._machine = file, machine
        self._statistics = loop_thread.statistics
        loop_thread.on_last_tick = self._end_ticks
        self._limited = loop.limits.counts
        self._counting = [
            member for member in loop.hardware.members if "bus_counts" in member.duties
        ]
        self._memory = file.memory
        self._words = file.words
        self._slots, self._ticks_at = len(file.ticks), file.ticks_at
        kind = tick_type(file.facts)
        self._size = kind.itemsize
        spans = [kind[name].itemsize for name in _BLOCKS]
        # In the order of the fields, so that the number at the end is written last.
        blocks = "".join(f"{n}s" for n in spans)
        self._record = struct.Struct(f"{TICK_HEAD.format}{blocks}{TICK_END.format.lstrip('@')}")
        assert (self._record.size, self._limited.nbytes) == (self._size, spans[2])
        self._events = EventWriter(file, Word.LOOP_EVENTS, machine)
        self._ros_events = EventWriter(file, Word.ROS_EVENTS, machine)
        self._broken = False
        self._last: Snapshot | None = None
        self._controller = self._sources = b""  # encoded: they seldom change

    def record(self, snapshot: Snapshot) -> None:
        """Write one tick; in the loop's thread. Its errors do not end the loop."""
        if self._broken:
            return
        try:
            self._write(snapshot)
        except PLUGIN_ERRORS:
            self._broken = True
            logger.exception("the tick recorder failed: nothing is recorded any more")

    def _write(self, snapshot: Snapshot) -> None:
        self._record_changes(snapshot)
        number = self._words[Word.TICKS] + 1
        start = self._ticks_at + (number - 1) % self._slots * self._size
        statistics = self._statistics
        self._record.pack_into(
            self._memory,
            start,
            number,
            self._machine.clock_ns(),
            self._machine.system_time_ns(),
            snapshot.tick,
            snapshot.now,
            statistics.latest_execution,
            statistics.overruns,
            snapshot.switch_number,
            snapshot.mode,
            snapshot.phase is Phase.PREPARING,
            0,
            self._controller,
            self._sources,
            b"".join([member.result_of("bus_counts") for member in self._counting]),
            self._limited.tobytes(),
            snapshot.state_array.tobytes(),
            snapshot.command_array.tobytes(),
            number,
        )
        self._words[Word.TICKS] = number

    def record_event(
        self, kind: EventKind, text: str, level: int = 0, codes: Sequence[str] = ()
    ) -> None:
        """Write an event of the ROS side. Called by any thread but the loop's."""
        self._ros_events.add(kind, text, level, codes)

    def end(self) -> None:
        """Remove the file: the control process ends in order."""
        self.file.words[Word.ENDED] = 1
        self.file.remove()

    def _end_ticks(self) -> None:
        self._words[Word.TICKS_ENDED] = 1

    def _record_changes(self, snapshot: Snapshot) -> None:
        last = self._last
        self._last = snapshot
        if (
            last is None
            or snapshot.switch_number != last.switch_number
            or snapshot.controller != last.controller
        ):
            number = snapshot.switch_number
            text = f"{snapshot.mode.name} ({snapshot.controller}, switch {number})"
            self._controller = snapshot.controller.encode()[:CONTROLLER]
            self._events.add(EventKind.SWITCH, text)
        if last is None or snapshot.reports is not last.reports:
            self._record_reports(snapshot.reports, last.reports if last else ())
        if snapshot.fall is not None and (last is None or snapshot.fall is not last.fall):
            fell = snapshot.fall.reason
            self._events.add(EventKind.FALL, fell.text, SafetyLevel.FAULT, fell.codes)
        if snapshot.refusal is not None and (last is None or snapshot.refusal is not last.refusal):
            refused = snapshot.refusal.reason
            self._events.add(EventKind.REFUSAL, refused.text, codes=refused.codes)

    def _record_reports(
        self, reports: Sequence[SafetyReport], before: Sequence[SafetyReport]
    ) -> None:
        pairs = [int(number) for report in reports for number in (report.level, report.flags)]
        self._sources = struct.pack(f"@{len(pairs)}I", *pairs)
        for report in reports:
            if report not in before:
                text = report_text(report.source, int(report.flags), report.message)
                self._events.add(EventKind.REPORT, text, report.level, report.codes)
