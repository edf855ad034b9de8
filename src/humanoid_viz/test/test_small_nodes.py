"""The other nodes of the viewer package as processes: topics and end."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from humanoid_control_msgs.msg import SafetyStatus
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from visualization_msgs.msg import Marker

GIVE_UP = 30.0  # [s]
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


@pytest.fixture
def start(domain: int, tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts an entry point of humanoid_viz.main with ROS arguments."""
    started: list[subprocess.Popen[str]] = []

    def start_one(name: str, *words: str) -> subprocess.Popen[str]:
        code = f"import sys; from humanoid_viz.main import {name}; sys.exit({name}())"
        command = [sys.executable, "-c", code, "--ros-args", *words]
        started.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start_one
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture
def received(robot: Any) -> Callable[..., list[Any]]:
    """Return the messages of a topic, in the process of the robot."""

    def listen(kind: type, topic: str, qos: Any = 10) -> list[Any]:
        messages: list[Any] = []
        robot.node.create_subscription(kind, topic, messages.append, qos)
        return messages

    return listen


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_marker_shows_the_mode_and_ends_in_order(
    start: Any, robot: Any, received: Any, wait_until: Any, number: signal.Signals
) -> None:
    markers = received(Marker, "/prime/status_marker")
    process = start("status_marker", "-p", "frame:=base_link", "-p", "height:=2.5")
    robot.mode = 2
    robot.report("wrists", SafetyStatus.FAULT, "bus off")

    def shows_both() -> bool:
        text = markers[-1].text if markers else ""
        return "STANDBY" in text and "FAULT: wrists: bus off" in text

    wait_until(shows_both, "the mode and the fault")
    marker = markers[-1]
    assert (marker.color.r, marker.color.g) == (pytest.approx(0.85), 0.0)
    assert (marker.type, marker.action) == (Marker.TEXT_VIEW_FACING, Marker.ADD)
    assert (marker.header.frame_id, marker.pose.position.z) == ("base_link", 2.5)
    assert marker.header.stamp.sec == 0  # at any place of the frame
    process.send_signal(number)
    assert process.wait(GIVE_UP) == 0
    assert process.stderr.read() == ""


def test_the_model_stands_still_in_its_own_namespace(
    start: Any, received: Any, wait_until: Any, arm_urdf: str, tmp_path: Path
) -> None:
    urdf = arm_urdf.replace("\n", " ").replace("'", "")
    file = tmp_path / "still.yaml"
    file.write_text(f"/view/still_model:\n  ros__parameters:\n    robot_description: '{urdf}'\n")
    states = received(JointState, "/view/prime/joint_states")
    descriptions = received(String, "/view/robot_description", LATCHED)
    start("still_model", "--params-file", str(file), "-r", "__ns:=/view")
    wait_until(lambda: len(states) > 1 and descriptions, "the model")
    assert states[-1].name == ["shoulder", "elbow"]
    assert list(states[-1].position) == [0.0, 0.0]


def test_the_model_is_never_published_as_a_robot(start: Any, arm_urdf: str) -> None:
    process = start("still_model")
    _, output = process.communicate(timeout=GIVE_UP)
    assert process.returncode == 1
    assert output == "still_model: the root namespace is the robot's, expected another\n"
