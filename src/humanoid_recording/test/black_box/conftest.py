"""Flight records made by hand, for the tests of the black box."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from test_support.record_facts import record_facts

from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_control_common.tick_records.record_file import RecordFile, create
from humanoid_control_common.tick_records.record_layout import EventKind, Word
from humanoid_control_common.tick_records.record_ring import EventWriter, report_text

JOINTS = ("left_elbow_pitch", "right_elbow_pitch")
URDF = """<robot name="prime">
  <joint name="left_elbow_pitch" type="revolute"><limit effort="10" velocity="4"/></joint>
  <joint name="right_elbow_pitch" type="revolute"><limit effort="10" velocity="4"/></joint>
</robot>"""
FACTS = record_facts(
    seconds=60.0,
    joints=JOINTS,
    sources=("PrimeSitoCAN",),
    counters=("PrimeSitoCAN: lost",),
    limited=("position", "velocity", "effort"),
    robot_description=URDF,
)
STEP = 20_000_000  # [ns] between two ticks


class Flight:
    """The records of a control process that the black box reads; only ticks advance its clock."""

    def __init__(self, memory: Path, *, alive: bool = True, pid: int = 0) -> None:
        facts = FACTS if alive else replace(FACTS, pid=pid or 4_000_000, process_start=1)
        self.file: RecordFile = create(facts, memory)
        self.now = time.monotonic_ns()
        self.offset = time.time_ns() - self.now
        self.mode = Mode.STANDBY
        self.position = [0.0, 0.0]
        self.velocity = [0.0, 0.0]
        self.effort = [0.0, 0.0]
        self.target = [0.0, 0.0]
        self._loop = EventWriter(self.file, Word.LOOP_EVENTS)
        self._ros = EventWriter(self.file, Word.ROS_EVENTS)

    def clock(self) -> float:
        """Return the time [s]."""
        return self.now / 1e9

    def tick(self, count: int = 1) -> None:
        for _ in range(count):
            self.now += STEP
            number = self.file.words[Word.TICKS] + 1
            record = self.file.ticks[(number - 1) % len(self.file.ticks)]
            record["begin"] = number
            record["tick"] = number
            record["monotonic"], record["wall"] = self.now, self.now + self.offset
            record["mode"], record["switch_number"] = self.mode, 3
            record["controller"] = b"standby_controller"
            record["state"] = self.position, self.velocity, self.effort
            record["command"] = [self.target, [0.1, 0.2], [0.3, 0.4], [20.0, 20.0], [2.0, 3.0]]
            record["counters"] = number
            record["limited"][0, 1] = number
            record["end"] = number
            self.file.words[Word.TICKS] = number

    def event(self, kind: EventKind, text: str, level: int = 0, *, ros: bool = False) -> None:
        """Record an event with the present time."""
        writer, ring, word = (
            (self._ros, self.file.ros_events, Word.ROS_EVENTS)
            if ros
            else (self._loop, self.file.loop_events, Word.LOOP_EVENTS)
        )
        writer.add(kind, text, level)
        record = ring[(self.file.words[word] - 1) % len(ring)]
        record["monotonic"], record["wall"] = self.now, self.now + self.offset

    def report(
        self, level: SafetyLevel, message: str, flags: int = 8, *, ros: bool = False
    ) -> None:
        text = report_text("PrimeSitoCAN", flags, message)
        self.event(EventKind.REPORT, text, level, ros=ros)

    def end_ticks(self) -> None:
        self.file.words[Word.TICKS_ENDED] = 1

    def end(self) -> None:
        self.file.words[Word.ENDED] = 1
        self.file.remove()


@pytest.fixture(scope="session")
def flights() -> type[Flight]:
    """Make tick records."""
    return Flight
