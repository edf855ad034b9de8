"""The mode in force, read from the record of a control process."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from test_support.record_facts import record_facts

from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.tick_records.latest_tick import FRESH, LatestTick, latest_tick
from humanoid_control_common.tick_records.record_file import RecordFile, create
from humanoid_control_common.tick_records.record_layout import Word
from humanoid_control_common.tick_records.record_types import tick_type

FACTS = record_facts(10.0, domain=0, seconds=0.4)
NOW = 1000.0  # [s]
LATEST = LatestTick(Mode.DAMPING, "damping_controller", 3)


def tick(file: RecordFile, mode: Mode, controller: str, switch_number: int) -> None:
    """Record one tick at NOW."""
    number = file.words[Word.TICKS] + 1
    record = file.ticks[(number - 1) % len(file.ticks)]
    record["begin"] = number
    record["monotonic"] = int(NOW * 1e9)
    record["mode"], record["switch_number"] = mode, switch_number
    record["controller"] = controller.encode()
    record["end"] = number
    file.words[Word.TICKS] = number


@pytest.fixture
def file(tmp_path: Path) -> RecordFile:
    """The record of this process: its ring has room for four ticks and has had six."""
    made = create(FACTS, tmp_path)
    for number in range(5):
        tick(made, Mode.STANDBY, "standby_controller", number)
    tick(made, LATEST.mode, LATEST.controller, LATEST.switch_number)
    return made


def latest(file: RecordFile, now: float = NOW, namespace: str = "") -> LatestTick | None:
    return latest_tick(namespace, file.path.parent, lambda: now)


def test_the_latest_of_all_ticks_counts(file: RecordFile) -> None:
    assert latest(file) == LATEST


def test_size_of_a_tick_is_that_of_its_type() -> None:
    assert tick_type(FACTS).itemsize == FACTS.tick_size


def test_loop_that_stands_still_has_no_latest_tick(file: RecordFile) -> None:
    assert latest(file, NOW + 0.9 * FRESH) == LATEST
    assert latest(file, NOW + 1.1 * FRESH) is None


def test_tick_that_is_being_written_is_not_read(file: RecordFile) -> None:
    number = file.words[Word.TICKS]
    file.ticks[(number - 1) % len(file.ticks)]["begin"] = number + len(file.ticks)
    assert latest(file) is None


def test_record_before_its_first_tick_has_no_mode(tmp_path: Path) -> None:
    assert latest(create(FACTS, tmp_path)) is None


def test_process_that_has_ended_has_no_mode(tmp_path: Path) -> None:
    killed = create(replace(FACTS, process_start=FACTS.process_start - 1), tmp_path)
    tick(killed, Mode.STANDBY, "standby_controller", 1)
    assert latest(killed) is None


def test_record_that_is_not_complete_is_passed_over(file: RecordFile) -> None:
    begun = file.path.with_name(file.path.name.replace(str(FACTS.pid), "1"))
    begun.touch()
    assert latest(file) == LATEST


def test_robot_in_another_namespace_is_another_one(file: RecordFile) -> None:
    assert latest(file, namespace="/left") is None


def test_latest_tick_loads_neither_ros_nor_numpy() -> None:
    program = (
        "import sys, humanoid_control_common.tick_records.latest_tick; "
        "sys.exit(' '.join({'numpy', 'rclpy', 'pydantic'} & set(sys.modules)) or 0)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stderr) == (0, "")
