"""The report of a file of the black box."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rclpy.serialization import serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, MultiArrayDimension, MultiArrayLayout, String

from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_control_common.tick_records.record_file import RecordStore
from humanoid_control_common.tick_records.record_layout import EventKind
from humanoid_recording.black_box.black_box import BlackBox
from humanoid_recording.black_box.fault_report import (
    FaultReport,
    read_fault_report,
    read_reasons,
    remarks,
)
from humanoid_recording.black_box.store import Store
from humanoid_recording.crash_safe_file import BagError
from humanoid_recording.writer import BagWriter


class Rig:
    """A control process, and the report of its fault."""

    def __init__(self, flights: Any, folder: Path) -> None:
        (folder / "memory").mkdir()
        self.flight = flights(folder / "memory")
        self.box = BlackBox(
            Store(folder / "files"), RecordStore(folder / "memory"), self.flight.clock
        )

    def run_to_the_file(self) -> Path:
        self.flight.tick(110)
        self.box.check()
        (path,) = Store(self.box._store.folder).files()
        return path

    def story(self) -> FaultReport:
        return read_fault_report(self.run_to_the_file())


@pytest.fixture
def rig(flights: Any, tmp_path: Path) -> Rig:
    return Rig(flights, tmp_path)


def test_events_have_their_distance_from_the_fault(rig: Rig) -> None:
    rig.flight.event(EventKind.SWITCH, "STANDBY (standby_controller, switch 3)")
    rig.flight.tick(50)
    rig.flight.report(SafetyLevel.FAULT, "joint 'left_elbow_pitch' is hot")
    rig.flight.tick(5)
    rig.flight.event(EventKind.FALL, "PrimeSitoCAN reports FAULT: joint 'left_elbow_pitch' is hot")
    path = rig.run_to_the_file()
    story = read_fault_report(path)
    alarms = [(round(m.time, 3), m.text) for m in story.events if m.alarm]
    assert alarms == [
        (0.0, "report: PrimeSitoCAN reports FAULT: joint 'left_elbow_pitch' is hot"),
        (0.1, "fall: PrimeSitoCAN reports FAULT: joint 'left_elbow_pitch' is hot"),
    ]
    (reason,) = story.reasons
    assert reason.text == "PrimeSitoCAN reports FAULT: joint 'left_elbow_pitch' is hot"
    assert story.fault == pytest.approx(
        (rig.flight.now + rig.flight.offset) / 1e9 - story.after, abs=1e-6
    )
    assert read_reasons(path) == (story.reasons, story.fault)
    assert (story.before, story.after) == (pytest.approx(0.98), pytest.approx(2.3))


def test_the_joint_that_stood_out_just_before_is_named(rig: Rig) -> None:
    rig.flight.velocity = [3.9, 0.0]  # long ago: not the reason
    rig.flight.tick(100)
    rig.flight.velocity = [0.5, -3.0]
    rig.flight.effort = [-8.0, 1.0]
    rig.flight.target = [0.0, 0.2]
    rig.flight.tick(60)
    rig.flight.event(EventKind.FALL, "fell")
    # Falling, the other joint is faster: not the reason either.
    rig.flight.velocity, rig.flight.effort, rig.flight.target = [3.9, 0.0], [0.0, 9.9], [0.5, 0.0]
    joints = {found.what: found for found in rig.story().joints}
    fastest, effort = joints["fastest"], joints["most effort"]
    assert (fastest.joint, fastest.value, fastest.share) == ("right_elbow_pitch", 3.0, 0.75)
    assert (effort.joint, effort.value, effort.share) == ("left_elbow_pitch", 8.0, 0.8)
    pull = joints["most spring torque"]
    assert (pull.joint, pull.value, pull.share) == ("right_elbow_pitch", 4.0, 0.4)


def test_limits_that_were_reached_are_events(rig: Rig) -> None:
    rig.flight.tick(10)
    rig.flight.event(EventKind.FALL, "fell")
    texts = [event.text for event in rig.story().events]
    (limit,) = (text for text in texts if text.startswith("counted: limited"))
    assert limit.startswith("counted: limited position: right_elbow_pitch: 119 times until +2.20 s")


def counted(**columns: list[float]) -> list[tuple[int, Float64MultiArray]]:
    layout = MultiArrayLayout(dim=[MultiArrayDimension(label=name) for name in columns])
    rows = zip(*columns.values(), strict=True)
    return [
        (i * 1_000_000_000, Float64MultiArray(layout=layout, data=list(row)))
        for i, row in enumerate(rows)
    ]


def test_counter_that_seldom_grows_is_reported_and_a_traffic_counter_is_not() -> None:
    numbers = counted(sent=[1.0, 2, 3, 4, 5, 6], lost=[0.0, 0, 2, 2, 3, 3], none=[7.0] * 6)
    assert list(remarks(numbers, 2_000_000_000)) == [
        (2_000_000_000, "counted: lost: 3 times until +2.00 s")
    ]


def test_a_counter_that_begins_anew_is_not_counted_backwards() -> None:
    numbers = counted(lost=[5.0, 5, 0, 1, 1, 1])
    assert list(remarks(numbers, 0)) == [(3_000_000_000, "counted: lost: once")]


def test_a_drive_that_changes_its_state_is_an_event_and_its_steps_on_the_way_are_none() -> None:
    name = "PrimeEtherCATSide: statusword of left_elbow_pitch"
    numbers = counted(**{name: [0x1237, 0x1637, 0x0218, 0x0218]})
    assert list(remarks(numbers, 0)) == [(2_000_000_000, f"{name}: 0x1637 -> 0x0218")]


def test_a_number_that_flutters_does_not_fill_the_screen() -> None:
    numbers = counted(**{"ring: working counter": [30.0, -1.0] * 20})
    found = [text for _, text in remarks(numbers, 0)]
    assert found[0] == "ring: working counter: 30 -> -1"
    assert len(found) == 9
    assert found[-1] == "ring: working counter: 31 more changes"


def test_a_file_that_is_not_of_a_black_box_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BagError, match="no bag there"):
        read_fault_report(tmp_path)


def test_an_ordinary_recording_is_no_file_of_the_black_box(tmp_path: Path, bags: Any) -> None:
    bags.write(tmp_path / "walk", bags.messages.items())
    with pytest.raises(BagError, match=r"is no file of the black box.*`hc replay .*` plays it"):
        read_fault_report(tmp_path / "walk")


def test_a_topic_of_another_type_is_named(tmp_path: Path, bags: Any) -> None:
    bags.write(tmp_path / "other", [("/left/prime/joint_states", String(data="text"))])
    with pytest.raises(BagError, match=r"left/prime/joint_states is std_msgs/msg/String, expected"):
        read_fault_report(tmp_path / "other")


def test_a_type_that_has_changed_since_is_not_misread(tmp_path: Path, bags: Any) -> None:
    state = bags.messages["/prime/joint_states"]
    with BagWriter(tmp_path / "old") as bag:
        topic = bags.topic("/prime/joint_states", state)
        bag.add_topic(replace(topic, definition=f"{topic.definition}\nfloat64 torque\n"))
        bag.add(topic.name, serialize_message(state), bags.start, bags.start)
    with pytest.raises(BagError, match=r"sensor_msgs/msg/JointState has changed since"):
        read_fault_report(tmp_path / "old")


@pytest.mark.parametrize(
    "messages",
    [
        [("/tick_records/counters", Float64MultiArray(data=[0.0] * count)) for count in (1, 2)],
        [
            ("/tick_records/counters", Float64MultiArray(data=[0.0])),
            ("/prime/joint_states", JointState(name=["a"], position=[0.0])),
            ("/robot_description", String(data="<robot")),
        ],
    ],
    ids=["counters of two lengths", "a description that is no XML"],
)
def test_messages_that_do_not_fit_together_are_refused(
    tmp_path: Path, bags: Any, messages: list[tuple[str, object]]
) -> None:
    bags.write(tmp_path / "misfit", messages)
    with pytest.raises(BagError, match="is no file of the black box"):
        read_fault_report(tmp_path / "misfit")


def test_the_fault_is_the_one_the_file_was_made_for_not_an_earlier_one_of_the_same_words(
    rig: Rig,
) -> None:
    rig.flight.tick(10)
    rig.flight.event(EventKind.FALL, "emergency stop")
    first = rig.run_to_the_file()
    rig.flight.tick(1000)
    rig.box.check()
    fault = rig.flight.now
    rig.flight.event(EventKind.FALL, "emergency stop")
    rig.flight.tick(110)
    rig.box.check()
    (second,) = {*Store(first.parent).files()} - {first}
    for found in (read_fault_report(second).fault, read_reasons(second)[1]):
        assert found == pytest.approx((fault + rig.flight.offset) / 1e9, abs=1e-6)


def test_a_file_that_is_cut_before_its_reason_counts_from_its_end(rig: Rig) -> None:
    rig.flight.tick(1000)
    rig.flight.event(EventKind.FALL, "emergency stop")
    path = rig.run_to_the_file()
    whole = read_fault_report(path)
    (recording,) = path.glob("*.mcap")
    recording.write_bytes(recording.read_bytes()[: recording.stat().st_size // 2])
    cut = read_fault_report(path)
    assert not cut.reasons
    assert cut.after == 0.0
    assert whole.fault - whole.before < cut.fault < whole.fault
    assert "was not finished" in cut.damage
    assert read_reasons(path) == ((), cut.fault)
    recording.write_bytes(recording.read_bytes()[:20])
    with pytest.raises(BagError, match="nothing in it can be read"):
        read_fault_report(path)
