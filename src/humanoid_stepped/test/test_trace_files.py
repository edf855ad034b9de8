"""Files of the trace of the robot on one clock."""

from __future__ import annotations

from pathlib import Path

import pytest
from rcl_interfaces.msg import Log
from rclpy.serialization import deserialize_message
from std_msgs.msg import String
from test_support.twin.prime_actuators import CAN_JOINTS

from humanoid_control_common.errors import RobotError
from humanoid_control_common.rules.reasons import Reason
from humanoid_recording.reader import BagReader
from humanoid_recording.trial_files import TrialFiles
from humanoid_stepped.robot import SteppedRobot
from humanoid_stepped.stepped_machine import EPOCH
from humanoid_stepped.trace import Trace
from humanoid_stepped.trace_files import TraceFiles
from humanoid_twin.can.frame import CanFrame

SHORT = 0.4  # [s]; the control process logs within twice that


@pytest.fixture
def robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SteppedRobot:
    monkeypatch.setenv("ROS_HOME", str(tmp_path))
    (tmp_path / "robot").mkdir()
    return SteppedRobot(1, tmp_path / "robot")


def on_topic(files: TrialFiles, topic: str) -> list[tuple[int, bytes]]:
    found = [it for it in BagReader(files.topics) if it.channel.topic == topic]
    return [(it.time, it.data) for it in found]


def test_the_run_of_a_robot_is_the_same_with_and_without_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ROS_HOME", str(tmp_path))

    def started(name: str) -> SteppedRobot:
        (tmp_path / name).mkdir()
        robot = SteppedRobot(1, tmp_path / name)
        robot.start()
        robot.scheduler.run_for(1.0)
        return robot

    robot = started("without")
    without = Trace(robot)
    robot.scheduler.run_for(SHORT)
    robot = started("with")
    with TraceFiles(robot, TrialFiles(tmp_path / "files")):
        trace = Trace(robot)
        robot.scheduler.run_for(SHORT)
    assert trace.digest() == without.digest()


def test_bag_has_the_latched_messages_from_before_its_beginning(
    robot: SteppedRobot, tmp_path: Path
) -> None:
    robot.start()
    robot.scheduler.run_for(1.0)
    files = TrialFiles(tmp_path / "files")
    with TraceFiles(robot, files):
        robot.scheduler.run_for(SHORT)
    ((time, data),) = on_topic(files, "/robot_description")
    assert time == EPOCH + 1_000_000_000
    assert "<ros2_control" in deserialize_message(data, String).data


def test_a_late_line_is_in_its_place_whatever_the_system_time_is(
    robot: SteppedRobot, tmp_path: Path
) -> None:
    files = TrialFiles(tmp_path / "files")
    robot.start()
    with TraceFiles(robot, files) as trace:
        robot.scheduler.run_for(SHORT)
        early = trace.now
        robot.scheduler.system_offset = -3600 * 10**9
        robot.scheduler.run_for(SHORT)
        trace.say("test", Log.INFO, Reason("late"), early)
    dates = [it.time for it in BagReader(files.topics)]
    assert dates == sorted(dates)
    assert dates[-1] - dates[0] <= 2 * SHORT * 1e9
    lines = [(time, deserialize_message(data, Log)) for time, data in on_topic(files, "/rosout")]
    assert [(time, line.msg) for time, line in lines if line.name == "test"] == [(early, "late")]
    assert {"stack.control"} <= {line.name for _, line in lines}


def test_the_files_are_no_node_that_acknowledges_frames(
    robot: SteppedRobot, tmp_path: Path
) -> None:
    for motor in CAN_JOINTS:
        robot.virtual.control.can_power_off(motor)
    with TraceFiles(robot, TrialFiles(tmp_path / "files")):
        bus = robot.virtual.cans["can"].bus
        assert robot.virtual.adapters["can"].controller.send(CanFrame(1), bus.now)
        robot.scheduler.run_for(SHORT)
        counters = bus.settled_counters()
    assert counters.frames == 0
    assert counters.unacknowledged > 0


@pytest.mark.parametrize("name", ["topics", "ring.pcap", "can.log"])
def test_a_file_that_cannot_be_written_is_an_error_with_its_place(
    robot: SteppedRobot, tmp_path: Path, name: str
) -> None:
    (tmp_path / "files" / name).mkdir(parents=True)
    with pytest.raises(RobotError, match="files"):
        TraceFiles(robot, TrialFiles(tmp_path / "files"))
