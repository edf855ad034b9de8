"""`hc teach` and `hc play`, with the real control process and mock hardware."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from sensor_msgs.msg import JointState

from humanoid_control_cli.client import Client
from humanoid_control_cli.errors import RefusedError
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_cli.teach.playing import _present
from humanoid_control_cli.teach.recording import RECORDING, _GuidedMotion, _record
from humanoid_control_common.robot.joints import JointLimits, JointSet
from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_controller_manager.hardware.urdf import RobotDescription
from humanoid_motion.motion_file.motion import motion_text, read_motion
from humanoid_recording.topics import JOINT_STATES

if TYPE_CHECKING:
    from src.humanoid_control_cli.test.conftest import Starter

TIMEOUT = 30.0  # [s]; a dead-man's switch
MOTION = """robot: prime
recorded: '2026-11-24T03:12:00Z'
limits: {velocity: 2.0, acceleration: 3.5}
joints: [left_elbow_pitch, left_wrist_roll]
points:
  - {time: 0.0, positions: [-0.5, 0.0]}
  - {time: 0.8, positions: [-0.7, 0.2]}
  - {time: 1.6, positions: [-0.5, 0.0]}
"""


@pytest.fixture
def motion(tmp_path: Path) -> Path:
    folder = tmp_path / "wave"
    folder.mkdir()
    (folder / "motion.yaml").write_text(MOTION)
    return folder


def to_standby(modes: ModeClient) -> None:
    modes.request(Intent.DAMP)
    modes.wait_for_ready_pose(modes.request(Intent.LOAD))


def to_trajectories(robot: Starter, modes: ModeClient) -> None:
    modes.request(Intent.DAMP)
    assert robot.ask("load", "trajectory_controller")[0] == 0
    to_standby(modes)
    modes.request(Intent.START_REMOTE)


def test_teaching_needs_the_teach_controller(robot: Starter, tmp_path: Path) -> None:
    folder = tmp_path / "wave"
    code, text = robot.ask("teach", str(folder))
    assert code == 1
    assert text.endswith(": hc mode teach first")
    assert not folder.exists()


def test_a_recording_without_a_motion_is_refused_and_stays(
    robot: Starter, modes: ModeClient, tmp_path: Path
) -> None:
    """The joints of the mock do not move by themselves: it has no gravity."""
    to_standby(modes)
    assert robot.ask("mode", "teach")[0] == 0
    folder = tmp_path / "wave"
    code, text = robot.ask("teach", str(folder), "--seconds", "1")
    assert code == 1
    assert "nothing moves in the recording" in text
    assert [it.name for it in folder.iterdir()] == ["recording"]
    code, text = robot.ask("teach", str(folder), "--seconds", "1")
    assert code == 1
    assert f"{folder} exists already" in text


def test_a_recording_that_received_nothing_leaves_its_name_free(tmp_path: Path) -> None:
    with Client(TIMEOUT) as client:
        _record(client, tmp_path / "wave" / RECORDING, lambda: True)
    assert not list(tmp_path.iterdir())


def test_a_taught_motion_fits_its_own_limits_where_joints_differ_in_speed(tmp_path: Path) -> None:
    """The waist may turn at 0.4 rad/s; the elbow was guided at 1 rad/s."""
    limits = JointLimits(
        np.full(2, -2.0), np.full(2, 2.0), velocity=np.array([0.4, 3.0]), effort=np.ones(2)
    )
    joints = JointSet(("waist", "elbow"))
    guided = _GuidedMotion(RobotDescription("own", joints, limits, (), ""))
    for tick in range(400):
        time = 0.01 * tick
        stamp = Time(sec=int(time), nanosec=round(1e9 * (time % 1.0)))
        message = JointState(name=list(joints.names), position=[0.1 * time, float(np.sin(time))])
        message.header.stamp = stamp
        guided.note(message)
    file = tmp_path / "motion.yaml"
    file.write_text(motion_text(guided.motion(), "a test"))
    read_motion(file).check(joints, limits.lower, limits.upper, 1.0)


def test_teaching_ends_with_the_mode(robot: Starter, modes: ModeClient, tmp_path: Path) -> None:
    to_standby(modes)
    assert robot.ask("mode", "teach")[0] == 0
    run = robot.hc_anew("teach", str(tmp_path / "wave"), "--timeout", str(TIMEOUT))
    run.wait_for("move the arms")
    modes.request(Intent.DAMP)
    assert run.finish() == 1
    assert f"ended: in force is {Mode.DAMPING.name}" in run.text


def test_a_motion_is_played_to_its_end(robot: Starter, modes: ModeClient, motion: Path) -> None:
    to_trajectories(robot, modes)
    code, text = robot.ask("play", str(motion), "--speed", "2")
    assert code == 1
    assert "at speed 2: point 1" in text
    assert str(motion / "motion.yaml") in text
    code, text = robot.ask("play", str(motion))
    assert (code, text.splitlines()[-1]) == (0, "done"), text


def test_a_motion_that_is_interrupted_stops(
    robot: Starter, modes: ModeClient, motion: Path
) -> None:
    to_trajectories(robot, modes)
    run = robot.hc_anew("play", str(motion), "--speed", "0.1", "--timeout", str(TIMEOUT))
    run.wait_for("plays for")
    run.send(signal.SIGINT)
    assert run.finish() == 130
    assert run.lines[-1] == "stopped"


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("-0.7", "0.7", "7: points[1]: left_elbow_pitch: 0.7 rad, expected -2.25 to 0.3 rad"),
        ("robot: prime", "robot: lite", "1: robot: 'lite', expected 'prime"),
        ("left_wrist_roll", "left_toe", "the robot has no joint left_toe"),
        ("positions: [-0.7, 0.2]", "positions: [-0.7]", "7: points[1]: 1 positions, expected 2"),
    ],
)
def test_a_bad_edit_is_refused_and_nothing_moves(robot, motion, before, after, text) -> None:
    file = motion / "motion.yaml"
    file.write_text(MOTION.replace(before, after))
    code, answer = robot.ask("play", str(motion))
    assert code == 1
    assert f"{file}:" in answer
    assert text in answer


def test_a_joint_without_a_measurement_is_not_played(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("left_elbow_pitch", "left_wrist_roll")
    monkeypatch.setenv("HC_NAMESPACE", "/alone")
    with Client(TIMEOUT) as client:
        topic = client.node.create_publisher(JointState, JOINT_STATES, 10)
        state = JointState(name=names, position=[float("nan"), 0.1])
        client.node.create_timer(0.01, lambda: topic.publish(state))
        with pytest.raises(RefusedError, match="left_elbow_pitch: no measured position"):
            _present(client, names)


def test_links_that_would_meet_are_refused_before_anything_moves(
    robot: Starter, modes: ModeClient, motion: Path
) -> None:
    to_trajectories(robot, modes)
    inward = MOTION.replace("left_wrist_roll", "left_shoulder_roll")
    inward = inward.replace("[-0.7, 0.2]", "[-0.7, -0.3]").replace("0.8", "3").replace("1.6", "6")
    (motion / "motion.yaml").write_text(inward)
    code, text = robot.ask("play", str(motion))
    assert code == 1
    assert "apart, expected 20 mm at least" in text
    assert str(motion / "motion.yaml") in text
    assert "points[0]" not in text


def test_outside_of_remote_the_refusal_names_the_way_there(
    robot: Starter, modes: ModeClient, motion: Path
) -> None:
    modes.request(Intent.DAMP)
    code, text = robot.ask("play", str(motion))
    assert code == 1
    assert "hc mode remote" in text
