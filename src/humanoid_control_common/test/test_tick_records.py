"""Records are read whole while they are written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_support.record_facts import record_facts

from humanoid_control_common.errors import RobotError
from humanoid_control_common.memory_file import HeaderWord, process_start
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_control_common.tick_records.record_file import (
    RecordFile,
    attach,
    create,
)
from humanoid_control_common.tick_records.record_layout import (
    CODES,
    EventKind,
    Word,
)
from humanoid_control_common.tick_records.record_names import files_of_robot
from humanoid_control_common.tick_records.record_ring import (
    EventWriter,
    events_in,
    report_of,
    report_text,
    whole_records,
)

FACTS = record_facts(10.0, seconds=6.0)
WRITER = """
import sys
from pathlib import Path
from typing import Any
from humanoid_control_common.tick_records.record_file import create
from humanoid_control_common.tick_records.record_layout import EventKind, RecordFacts, Word
from humanoid_control_common.tick_records.record_ring import EventWriter
facts = RecordFacts.from_bytes(sys.stdin.buffer.read())
writer = EventWriter(create(facts, Path(sys.argv[1])), Word.LOOP_EVENTS)
number = 0
while True:
    writer.add(EventKind.REQUEST, str(number))
    number += 1
    if number == 2000:
        print("there", flush=True)
"""


@pytest.fixture
def file(tmp_path: Path) -> RecordFile:
    return create(FACTS, tmp_path)


def put(file: RecordFile, number: int) -> None:
    """Write tick `number`, from 1; all its values are this number."""
    record = file.ticks[(number - 1) % len(file.ticks)]
    record["begin"] = number
    record["state"] = record["command"] = number
    record["end"] = number
    file.words[Word.TICKS] = number


@settings(deadline=None)
@given(count=st.integers(0, 200))
def test_the_latest_records_are_read_in_order_however_often_the_ring_went_round(
    tmp_path_factory: pytest.TempPathFactory, count: int
) -> None:
    file = create(FACTS, tmp_path_factory.mktemp("ring"))
    for number in range(1, count + 1):
        put(file, number)
    found = whole_records(file.ticks)
    assert found["begin"].tolist() == list(range(max(1, count - 59), count + 1))
    assert (found["state"] == found["begin"][:, None, None]).all()


def test_a_record_that_was_begun_and_not_ended_is_left_out(file: RecordFile) -> None:
    for number in range(1, 71):
        put(file, number)
    file.ticks[10]["begin"] = 71
    found = whole_records(file.ticks)["begin"].tolist()
    assert found == list(range(12, 71))


def test_records_that_are_written_while_others_are_copied_leave_no_gap(file: RecordFile) -> None:
    for number in range(1, 31):
        put(file, number)
    file.ticks[30]["begin"] = 31

    class SlowToCopy(np.ndarray[Any, np.dtype[np.void]]):
        """The writer ends 31 while the reader copies it, and writes 32 before the copy of that."""

        def copy(self, *_: Any) -> Any:
            copied = super().copy()
            put(file, 31)
            put(file, 32)
            copied[31] = file.ticks[31]
            return copied

    found = whole_records(file.ticks.view(SlowToCopy))["begin"].tolist()
    assert found == list(range(1, 31))


def test_a_reader_gets_whole_records_only_while_the_writer_goes_on(file: RecordFile) -> None:
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            put(file, number)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(200):
            found = whole_records(file.ticks)
            assert (found["state"] == found["begin"][:, None, None]).all()
            assert (np.diff(found["begin"].astype(int)) == 1).all()
    finally:
        stop.set()
        writer.join()
    assert len(whole_records(file.ticks)) == len(file.ticks)


@pytest.fixture
def killed(tmp_path: Path) -> Iterator[RecordFile]:
    """The file of a process that was killed during a write."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdin and process.stdout
    facts = replace(FACTS, pid=process.pid, process_start=process_start(process.pid))
    process.stdin.write(facts.to_bytes())
    process.stdin.close()
    assert process.stdout.readline() == b"there\n"
    (path,) = files_of_robot(tmp_path)
    file = attach(path)
    assert file.writer_lives()
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    yield attach(path)


def test_records_of_a_killed_process_are_complete_to_the_last_record(killed: RecordFile) -> None:
    assert not killed.writer_lives()
    assert killed.words[Word.ENDED] == 0
    events = events_in(killed.loop_events)
    assert events[-1].number in {
        killed.words[Word.LOOP_EVENTS] - 1,
        killed.words[Word.LOOP_EVENTS],
    }
    assert [event.text for event in events] == [str(event.number) for event in events]
    assert len(events) >= len(killed.loop_events) - 1


def test_faults_and_falls_are_alarms(file: RecordFile) -> None:
    writer = EventWriter(file, Word.ROS_EVENTS)
    writer.add(EventKind.REQUEST, "LOAD")
    writer.add(EventKind.REPORT, "arm\t8\tdrive error of joint 'elbow'", SafetyLevel.FAULT)
    writer.add(EventKind.REPORT, "arm\t16\twarm", SafetyLevel.WARNING)
    writer.add(EventKind.FALL, "é" * 1000)
    events = events_in(file.ros_events)
    assert [event.is_alarm for event in events] == [False, True, False, True]
    assert events[3].text.startswith("ééé"), "cut, and still text"
    assert events_in(file.ros_events, 2) == events[2:]
    assert events_in(file.loop_events) == []


@pytest.mark.parametrize("source", ["a\tb", "\t\t", "", "x" * 2000, "é" * 500])
def test_a_report_is_read_back_whatever_the_name_of_its_source(
    source: str, file: RecordFile
) -> None:
    EventWriter(file, Word.ROS_EVENTS).add(
        EventKind.REPORT, report_text(source, 8, "hot\tand loud"), SafetyLevel.FAULT
    )
    (event,) = events_in(file.ros_events)
    report = report_of(event)
    assert (report.level, int(report.flags)) == (SafetyLevel.FAULT, 8)
    assert report.message.startswith("hot\tand loud")
    assert report.source[:1] == source[:1].strip()


class ReadCodes(tuple[str, ...]):
    """Counts how many codes were read."""

    read = 0

    def __iter__(self) -> Iterator[str]:
        for name in super().__iter__():
            self.read += 1
            yield name


def test_of_thousands_of_codes_only_those_that_fit_are_looked_at(file: RecordFile) -> None:
    """A report of 64 KiB would otherwise hold the ROS side up for half a second."""
    codes = ReadCodes(["A"] * 8000)
    EventWriter(file, Word.ROS_EVENTS).add(EventKind.REPORT, "guest\t0\t", codes=codes)
    (event,) = events_in(file.ros_events)
    assert event.codes == ("A",) * ((CODES + 1) // 2)
    assert codes.read <= len(event.codes) + 1


def test_a_writer_is_distinguished_from_another_process_of_its_number(tmp_path: Path) -> None:
    assert create(FACTS, tmp_path).writer_lives()
    assert not create(replace(FACTS, process_start=1), tmp_path).writer_lives()
    assert not create(replace(FACTS, boot_id="another"), tmp_path).writer_lives()


def test_record_file_is_readable_by_this_user_only_and_can_be_removed(
    file: RecordFile, tmp_path: Path
) -> None:
    assert file.path.stat().st_mode & 0o777 == 0o600
    file.remove()
    file.remove()
    assert files_of_robot(tmp_path) == []


def test_files_that_killed_processes_left_do_not_pile_up(tmp_path: Path) -> None:
    for pid in range(10, 20):
        create(replace(FACTS, pid=pid, process_start=1), tmp_path)
    alive = create(FACTS, tmp_path)
    left = files_of_robot(tmp_path)
    assert len(left) == 4
    assert alive.path in left


@pytest.mark.parametrize("damage", ["empty", "magic", "version", "short", "link"])
def test_a_file_without_tick_records_is_refused(
    damage: str, file: RecordFile, tmp_path: Path
) -> None:
    path = file.path
    match damage:
        case "empty":
            path = tmp_path / "empty.flight"
            path.touch()
        case "magic":
            file.words[HeaderWord.MAGIC] = 0
        case "version":
            file.words[HeaderWord.VERSION] = 99
        case "short":
            os.truncate(path, 4096)
        case "link":
            path = tmp_path / "link.flight"
            path.symlink_to(file.path)
    with pytest.raises((RobotError, OSError)):
        attach(path)


def test_record_file_is_shorter_or_absent_if_memory_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = list(os.statvfs(tmp_path))
    facts = replace(FACTS, seconds=60.0, update_rate=1000.0)
    whole = 60_000 * facts.tick_size

    def leave(room: int) -> None:
        status[0:5] = 1, 1, room, room, room
        monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(status))

    leave(2 * whole)  # of which half is for others
    file = create(facts, tmp_path)
    assert file.facts.seconds == 30.0
    assert len(file.ticks) == 30_000
    assert attach(file.path).facts == file.facts
    leave(whole // 10)
    with pytest.raises(OSError, match="No space left"):
        create(facts, tmp_path)


def test_a_robot_finds_the_files_of_its_own_namespace_only(tmp_path: Path) -> None:
    names = ["", "/left", "/left_1", "/left/arm", "/arm"]
    made = {name: create(replace(FACTS, namespace=name), tmp_path).path for name in names}
    assert len(set(made.values())) == len(names)
    for name in names:
        assert files_of_robot(tmp_path, name) == [made[name]]
