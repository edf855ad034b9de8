"""The files of the black box: their time, their content and their number."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.highlevel import AnyReader

from humanoid_control_common.errors import RobotError
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_control_common.tick_records.record_file import (
    RecordFile,
    RecordStore,
)
from humanoid_control_common.tick_records.record_layout import EventKind
from humanoid_control_common.tick_records.record_names import files_of_robot
from humanoid_recording.black_box.black_box import BlackBox
from humanoid_recording.black_box.messages import BagMessage
from humanoid_recording.black_box.origin import Origin, read_origin
from humanoid_recording.black_box.store import Store
from humanoid_recording.reader import BagReader

BUSY = 12.0  # [s]; the box makes one file in ten seconds


class Watched:
    """A black box and the control process that it records."""

    def __init__(self, flights: Any, folder: Path, **store: Any) -> None:
        self.memory = folder / "memory"
        self.memory.mkdir()
        self.flight = flights(self.memory)
        self.store = Store(folder / "files", **store)
        self.box = BlackBox(self.store, RecordStore(self.memory), self.flight.clock)

    def run(self, seconds: float, *, ticking: bool = True) -> None:
        """Let time pass; the box reads ten times a second."""
        for _ in range(round(seconds * 10)):
            if ticking:
                self.flight.tick(5)
            else:
                self.flight.now += 100_000_000
            self.box.check()

    def another_box(self) -> BlackBox:
        return BlackBox(self.store, RecordStore(self.memory), self.flight.clock)


@pytest.fixture
def watched(flights: Any, tmp_path: Path) -> Watched:
    return Watched(flights, tmp_path)


def messages(bag: Path) -> dict[str, list[Any]]:
    """Return the messages by topic with their times [ns], read by the library `mcap`."""
    found: dict[str, list[Any]] = {}
    (file,) = bag.glob("*.mcap")
    with file.open("rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        for _, channel, record, message in reader.iter_decoded_messages():
            found.setdefault(channel.topic, []).append((record.log_time, message))
    return found


def lines(bag: Path) -> list[str]:
    return [message.msg for _, message in messages(bag)["/rosout"]]


def test_black_box_writes_no_file_without_a_fault(watched: Watched) -> None:
    watched.flight.report(SafetyLevel.OK, "")
    watched.flight.report(SafetyLevel.WARNING, "warm")
    watched.flight.event(EventKind.REFUSAL, "Rejected LOAD")
    watched.run(70)
    assert watched.store.files() == []


def test_a_fault_is_saved_with_what_was_before_and_two_seconds_after(watched: Watched) -> None:
    watched.run(30)
    watched.flight.report(SafetyLevel.FAULT, "joint 'left_elbow_pitch' reports a motor fault")
    fault = watched.flight.now
    watched.run(1.9)
    assert watched.store.files() == []
    watched.run(0.3)
    (bag,) = watched.store.files()
    found = messages(bag)
    times = [time - watched.flight.offset for time, _ in found["/prime/joint_states"]]
    assert fault - times[0] == pytest.approx(30e9, abs=0.1e9)
    assert times[-1] - fault >= 2e9
    assert "joint 'left_elbow_pitch'" in found["/safety_status"][-1][1].message


def test_every_tick_is_in_the_file_with_all_that_was_known_of_it(watched: Watched) -> None:
    watched.flight.event(EventKind.SWITCH, "3 standby_controller STANDBY")
    watched.flight.event(EventKind.STATEMENT, "all is well", ros=True)
    watched.flight.position = [0.25, -0.5]
    watched.flight.velocity, watched.flight.effort = [0.5, -0.75], [3.0, -4.0]
    watched.flight.target = [1.0, 2.0]
    watched.run(2)
    found = messages(watched.box.save())
    state, command = found["/prime/joint_states"][-1][1], found["/prime/joint_commands"][-1][1]
    assert (tuple(state.name), list(state.position)) == (
        watched.flight.file.facts.joints,
        [0.25, -0.5],
    )
    assert (list(state.velocity), list(state.effort)) == ([0.5, -0.75], [3.0, -4.0])
    assert (list(command.position), list(command.stiffness)) == ([1.0, 2.0], [20.0, 20.0])
    assert (list(command.velocity), list(command.effort)) == ([0.1, 0.2], [0.3, 0.4])
    assert list(command.damping) == [2.0, 3.0]
    assert len(found["/prime/joint_states"]) == len(found["/prime/joint_commands"]) == 100
    statement = found["/control_mode"][-1][1]
    assert (statement.mode, statement.switch_number) == (2, 3)
    assert (statement.controller_name, statement.status_message) == (
        "standby_controller",
        "all is well",
    )
    counters = found["/tick_records/counters"][-1][1]
    named = dict(zip([d.label for d in counters.layout.dim], counters.data, strict=True))
    assert named["PrimeSitoCAN: lost"] == 100
    assert named["limited position: right_elbow_pitch"] == 100
    assert "limited velocity: right_elbow_pitch" not in named, "it was never reached"
    assert found["/robot_description"][0][1].data == watched.flight.file.facts.robot_description


def test_a_file_names_its_robot(watched: Watched) -> None:
    watched.run(1)
    bag = watched.box.save()
    assert read_origin(bag) == Origin(7, "twin")
    information = yaml.safe_load((bag / "metadata.yaml").read_text())
    custom = information["rosbag2_bagfile_information"]["custom_data"]
    assert custom == {"ros_domain_id": "7", "backend": "twin"}, "rosbag2 takes text only"


@pytest.mark.parametrize(
    "text",
    [
        "rosbag2_bagfile_information: {custom_data: null}",
        "rosbag2_bagfile_information: {custom_data: {ros_domain_id: x, backend: ''}}",
        "rosbag2_bagfile_information: 3",
        "",
        "{",
        None,
    ],
)
def test_a_file_without_the_mark_is_of_an_unknown_robot(text: str | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "metadata.yaml").write_text(text)
    origin = read_origin(tmp_path)
    assert origin == Origin(None, "")
    assert str(origin) == "ROS domain –, backend –"


def test_the_library_of_rosbag2s_users_opens_the_folder(watched: Watched) -> None:
    watched.run(1)
    with AnyReader([watched.box.save()]) as reader:
        topics = {connection.topic for connection in reader.connections}
        assert {"/prime/joint_states", "/control_mode", "/rosout"} <= topics
        for connection, _, data in reader.messages():
            assert reader.deserialize(data, connection.msgtype)


def test_a_report_from_before_the_first_tick_is_kept(watched: Watched) -> None:
    watched.flight.report(SafetyLevel.OK, "well")
    watched.flight.tick()
    watched.flight.file.loop_events[0]["monotonic"] -= 3_600_000_000_000
    watched.run(1)
    (_, report), *_ = messages(watched.box.save())["/safety_status"]
    assert (report.source, report.message) == ("PrimeSitoCAN", "well")


def test_a_clock_that_is_set_meanwhile_does_not_tear_the_record_apart(watched: Watched) -> None:
    watched.run(5)
    watched.flight.offset += 3_600_000_000_000
    watched.run(5)
    times = [time for time, _ in messages(watched.box.save())["/prime/joint_states"]]
    assert {after - before for before, after in itertools.pairwise(times)} == {20_000_000}


def test_faults_within_two_seconds_are_one_file_that_names_them_all(watched: Watched) -> None:
    watched.run(1)
    watched.flight.report(SafetyLevel.FAULT, "first")
    watched.run(1)
    watched.flight.event(EventKind.FALL, "second")
    watched.flight.event(EventKind.FALL, "third", ros=True)
    watched.run(BUSY)
    (bag,) = watched.store.files()
    assert lines(bag)[-3:] == ["PrimeSitoCAN reports FAULT: first", "second", "third"]


def test_a_fault_soon_after_a_file_waits_and_is_not_lost(watched: Watched) -> None:
    watched.flight.event(EventKind.FALL, "first")
    watched.run(4)
    watched.flight.event(EventKind.FALL, "second")
    watched.run(3)
    assert len(watched.store.files()) == 1
    watched.run(BUSY)
    latest, _ = watched.store.files()
    assert lines(latest)[-1] == "second"


def test_a_file_requested_takes_nothing_from_the_fault_before_it(watched: Watched) -> None:
    watched.flight.event(EventKind.FALL, "fell")
    watched.run(1)
    watched.box.save()
    watched.run(BUSY)
    assert len(watched.store.files()) == 2


def test_a_loop_that_stands_still_is_saved_once(watched: Watched) -> None:
    watched.run(5)
    watched.run(0.9, ticking=False)
    assert watched.store.files() == []
    watched.run(30, ticking=False)
    (bag,) = watched.store.files()
    assert "stood still for 1." in lines(bag)[-1]
    watched.run(1)
    watched.run(20, ticking=False)
    assert len(watched.store.files()) == 2


def test_a_box_that_was_held_up_does_not_take_that_for_a_loop_that_stands_still(
    watched: Watched,
) -> None:
    watched.run(5)
    watched.flight.now += 5_000_000_000  # both processes were stopped
    watched.box.check()
    watched.run(BUSY)
    assert watched.store.files() == []


def test_a_control_process_that_ends_in_order_leaves_no_file_and_no_watch(
    watched: Watched,
) -> None:
    watched.run(5)
    watched.flight.end()
    watched.run(BUSY, ticking=False)
    assert watched.store.files() == []
    assert watched.box.diagnosis().values["control process"] == "none"


def test_a_long_exit_of_the_hardware_is_no_loop_that_stands_still(watched: Watched) -> None:
    watched.run(5)
    watched.flight.end_ticks()
    watched.run(BUSY, ticking=False)
    watched.flight.end()
    watched.run(1, ticking=False)
    assert watched.store.files() == []


def test_a_fault_just_before_the_end_is_saved(watched: Watched) -> None:
    watched.run(5)
    watched.flight.event(EventKind.FALL, "fell")
    watched.flight.end()
    watched.run(0.1, ticking=False)
    assert len(watched.store.files()) == 1


def test_stopped_black_box_saves_the_pending_file(watched: Watched) -> None:
    watched.run(5)
    watched.box.finish()
    assert watched.store.files() == []
    watched.flight.event(EventKind.FALL, "fell")
    watched.run(0.1)
    watched.box.finish()
    assert len(watched.store.files()) == 1


def test_records_of_a_killed_control_process_are_saved_at_the_start(
    flights: Any, tmp_path: Path
) -> None:
    (tmp_path / "memory").mkdir()
    flight = flights(tmp_path / "memory", alive=False)
    flight.tick(500)
    store = Store(tmp_path / "files")
    BlackBox(store, RecordStore(tmp_path / "memory"), flight.clock).check()
    (bag,) = store.files()
    assert "(pid 4000000) was killed" in lines(bag)[-1]
    assert len(messages(bag)["/prime/joint_states"]) == 500
    assert files_of_robot(tmp_path / "memory") == [], "it is on the disk now"


def test_a_control_process_killed_while_a_file_is_made_is_in_the_next_one(
    flights: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    watched = Watched(flights, tmp_path, free=lambda _folder: meanwhile() or 10**12)

    def meanwhile() -> None:  # free space is checked after the copy of the memory
        watched.flight.tick(50)
        monkeypatch.setattr(RecordFile, "writer_lives", lambda _file: False)

    watched.run(5)
    watched.flight.event(EventKind.FALL, "fell")
    watched.run(3)
    watched.box.finish()
    latest, first = watched.store.files()
    assert "fell" in lines(first)[-1]
    assert "was killed, or crashed" in lines(latest)[-1]
    latest_ticks, first_ticks = (
        len(messages(bag)["/prime/joint_states"]) for bag in (latest, first)
    )
    assert latest_ticks >= first_ticks + 50
    assert files_of_robot(tmp_path / "memory") == [], "both are on the disk now"


def test_a_fault_and_the_end_while_a_file_is_made_are_in_the_next_one(
    flights: Any, tmp_path: Path
) -> None:
    watched = Watched(flights, tmp_path, free=lambda _folder: meanwhile() or 10**12)
    left = [None]

    def meanwhile() -> None:
        if left:
            left.pop()
            watched.flight.event(EventKind.FALL, "fell again")
            watched.flight.end()

    watched.run(5)
    watched.flight.event(EventKind.FALL, "fell")
    watched.run(3, ticking=False)
    watched.box.finish()
    assert ["fell again" in lines(bag)[-1] for bag in watched.store.files()] == [True, False]


def test_a_control_process_that_never_came_up_leaves_nothing(flights: Any, tmp_path: Path) -> None:
    (tmp_path / "memory").mkdir()
    flight = flights(tmp_path / "memory", alive=False)
    BlackBox(Store(tmp_path / "files"), RecordStore(tmp_path / "memory"), flight.clock).check()
    assert Store(tmp_path / "files").files() == []
    assert files_of_robot(tmp_path / "memory") == []


def test_a_fault_while_no_box_ran_is_saved_by_the_next_one_and_once(watched: Watched) -> None:
    watched.run(5)
    watched.flight.event(EventKind.FALL, "fell")
    watched.flight.tick(200)
    for _ in range(2):
        watched.another_box().check()
    assert len(watched.store.files()) == 1


def test_old_files_make_room_and_the_latest_stays(flights: Any, tmp_path: Path) -> None:
    watched = Watched(flights, tmp_path, most_files=3)
    watched.run(1)
    made = [watched.box.save() for _ in range(5)]
    assert watched.store.files() == made[:1:-1]
    small = Store(watched.store.folder, most_bytes=1)
    latest = BlackBox(small, RecordStore(watched.memory), watched.flight.clock).save()
    assert small.files() == [latest]


def test_black_box_removes_no_folder_of_another_program(watched: Watched) -> None:
    watched.run(1)
    watched.store.folder.mkdir()
    (watched.store.folder / "black_box_notes").mkdir()
    (watched.store.folder / "walk").mkdir()
    BlackBox(
        Store(watched.store.folder, most_files=1), RecordStore(watched.memory), watched.flight.clock
    ).save()
    assert (watched.store.folder / "black_box_notes").is_dir()
    assert (watched.store.folder / "walk").is_dir()


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], check=False
    )
    if mounted.returncode:
        pytest.skip("mounting needs root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_reported_and_the_memory_is_kept_for_later(
    watched: Watched, tiny_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    full = Store(tiny_disk / "files", free=lambda folder: 1 << 40)  # the disk itself is full
    watched.box = BlackBox(full, RecordStore(watched.memory), watched.flight.clock)
    watched.run(60)
    watched.flight.event(EventKind.FALL, "fell")
    watched.run(40)
    assert caplog.text.count("No space left on device") == 1
    assert list((tiny_disk / "files").iterdir()) == []
    diagnosis = watched.box.diagnosis()
    assert diagnosis.level.name == "WARN"
    assert "No space left" in diagnosis.message
    (left,) = files_of_robot(watched.memory)
    assert left == watched.flight.file.path
    watched.box = watched.another_box()
    watched.run(0.1)
    (bag,) = watched.store.files()
    assert lines(bag)[-1] == "fell"
    assert watched.box.diagnosis().level.name == "OK"


def test_a_disk_that_is_nearly_full_is_left_to_others(watched: Watched) -> None:
    watched.box = BlackBox(
        Store(watched.store.folder, free=lambda folder: 5_000_000),
        RecordStore(watched.memory),
        watched.flight.clock,
    )
    watched.flight.tick()
    with pytest.raises(RobotError, match="only 5 MB are left on the disk, of which 20 MB"):
        watched.box.save()
    assert watched.store.files() == []


def test_unfinished_file_of_a_killed_black_box_is_removed(watched: Watched) -> None:
    begun = watched.store.folder / ".partial_4000000"
    begun.mkdir(parents=True)
    (begun / "x.mcap").touch()
    assert watched.store.files() == []
    watched.store.remove_unfinished()
    assert not begun.exists()


def test_an_unfinished_file_of_a_black_box_that_writes_it_stays(watched: Watched) -> None:
    """That of another ROS domain, which uses the same folder."""
    written = watched.store.folder / f".partial_{os.getppid()}"
    written.mkdir(parents=True)
    watched.store.remove_unfinished()
    assert written.is_dir()


def test_two_black_boxes_that_write_in_the_same_second_both_keep_their_file(
    watched: Watched,
) -> None:
    """Those of two ROS domains, when both robots are stopped at once."""

    def write(folder: Path, name: str) -> None:
        folder.mkdir()
        (folder / "metadata.yaml").write_text(name)

    def write_while_another_does(folder: Path, name: str) -> None:
        write(folder, name)
        write(watched.store.folder / name, name)

    kept = watched.store.add(write_while_another_does)
    assert kept.name.endswith("_2")
    assert set(watched.store.files()) == {kept, kept.with_name(kept.name.removesuffix("_2"))}


@pytest.mark.parametrize(("size", "kept"), [(1_000_000, 32), (10, 4096), (40_000_000, 0)])
def test_messages_of_other_processes_are_bounded_in_number_and_size(
    watched: Watched, size: int, kept: int
) -> None:
    """Any program may publish diagnostics."""
    watched.flight.tick()
    data = bytes(size)
    for number in range(kept + 3):
        watched.box.receive(BagMessage("diagnostics", watched.flight.now + number, data))
    reader = BagReader(watched.box.save())
    stamps = [it.time for it in reader if it.channel.topic == "/diagnostics"]
    first = watched.flight.now + watched.flight.offset
    assert stamps == [first + number for number in range(3, kept + 3)]


def test_without_a_robot_there_is_nothing_to_save(tmp_path: Path) -> None:
    with pytest.raises(RobotError, match="nothing to save"):
        BlackBox(Store(tmp_path), RecordStore(tmp_path), time.monotonic).save()


def test_files_removed_meanwhile_are_no_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path)

    def write(folder: Path, name: str) -> None:
        folder.mkdir()
        (folder / "metadata.yaml").touch()

    for _ in range(3):
        store.add(write)
    looked = Path.is_file

    def removed_after_a_look(path: Path) -> bool:
        found = looked(path)
        shutil.rmtree(path.parent)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Path, "is_file", removed_after_a_look)
        assert store.files() == []
    latest = store.add(write)
    assert store.files() == [latest]


def test_a_file_that_takes_the_room_of_others_is_not_kept(tmp_path: Path) -> None:
    free = iter([25_000_000, 15_000_000])
    store = Store(tmp_path / "files", free=lambda folder: next(free))
    with pytest.raises(RobotError, match="only 15 MB are left"):
        store.add(lambda folder, name: folder.mkdir())
    assert list(store.folder.iterdir()) == []


def test_a_disk_that_stays_full_through_thousands_of_faults_takes_no_more_memory(
    flights: Any, tmp_path: Path
) -> None:
    watched = Watched(flights, tmp_path, free=lambda _folder: 0)
    for number in range(3000):
        watched.flight.event(EventKind.FALL, f"fall {number}")
        watched.flight.report(SafetyLevel.FAULT, f"fault {number}", ros=True)
        if number % 100 == 99:
            watched.run(0.1)
    ((falls, reports),) = [it._alarms for it in watched.box._monitors.values()]
    assert len(falls.waiting) == 1024
    assert falls.waiting[-1].text == "fall 2999"
    watched.run(10)
    assert len(reports.waiting) <= 1024


def test_clearing_a_fault_makes_no_second_file(watched: Watched) -> None:
    """During its recovery a drive has a fault until it is in operation, and reports each step."""
    watched.flight.report(SafetyLevel.FAULT, "left_elbow_pitch: fault")
    watched.run(0.3)
    watched.flight.report(SafetyLevel.FAULT, "left_elbow_pitch: fault, error 0x8500")
    watched.run(30)
    (fault,) = watched.store.files()
    watched.flight.report(SafetyLevel.FAULT, "left_elbow_pitch: switch on disabled")
    watched.run(0.2)
    watched.flight.report(SafetyLevel.FAULT, "left_elbow_pitch: switched on")
    watched.run(2.4)
    watched.flight.report(SafetyLevel.OK, "")
    watched.run(30)
    assert watched.store.files() == [fault]
    watched.flight.report(SafetyLevel.FAULT, "left_elbow_pitch: fault")
    watched.run(BUSY)
    assert len(watched.store.files()) == 2, "it is a new one"


def test_a_source_at_fault_that_changes_its_message_and_keeps_it_is_saved(
    watched: Watched,
) -> None:
    watched.flight.report(SafetyLevel.FAULT, "left_elbow_pitch: fault")
    watched.run(30)
    watched.flight.report(SafetyLevel.FAULT, "left_elbow_pitch and right_elbow_pitch: fault")
    watched.run(BUSY)
    latest, _ = watched.store.files()
    assert lines(latest)[-1].endswith("left_elbow_pitch and right_elbow_pitch: fault")


def test_a_black_box_that_starts_later_reads_which_sources_were_at_fault(watched: Watched) -> None:
    watched.flight.report(SafetyLevel.FAULT, "left_elbow_pitch: fault")
    watched.run(BUSY)
    watched.box = watched.another_box()
    watched.run(1)
    watched.flight.report(SafetyLevel.FAULT, "left_elbow_pitch: switched on")
    watched.run(1)
    watched.flight.report(SafetyLevel.OK, "")
    watched.run(BUSY)
    assert len(watched.store.files()) == 1
