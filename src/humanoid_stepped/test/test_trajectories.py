"""Trajectories on both buses: commanded as planned, reached, and stopped without a step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from humanoid_control_msgs.msg import JointJog, TrajectoryState
from humanoid_control_msgs.srv import MoveJoints
from std_srvs.srv import Trigger
from test_support.controllers import write_controllers
from test_support.stepped.prime import Prime
from test_support.stepped.stack import Stack

from humanoid_control_common.rules.modes import Mode

NAME = "/trajectory_controller"
TARGETS = {"left_elbow_pitch": -0.8, "right_elbow_pitch": -0.7, "right_wrist_roll": 0.4}
PERIOD = 0.02  # [s] of the control loop
ACCELERATION = 4.0  # [rad/s^2], the controller's default


@pytest.fixture(scope="module")
def remote(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """Prime in REMOTE by trajectories, with a quick STANDBY."""
    folder = tmp_path_factory.mktemp("trajectories")
    file = write_controllers(folder, 1.0)
    file.write_text(yaml.safe_dump(_by_trajectories(file)))
    prime = Prime(folder, controllers_file=file)
    prime.up()
    prime.damped()
    prime.enter(Mode.STANDBY)
    prime.client.until(prime.has_finished_standby, "the ready pose")
    prime.enter(Mode.REMOTE)
    return prime


def _by_trajectories(file: Path) -> Any:
    content = yaml.safe_load(file.read_text())
    manager = content["controller_manager"]["ros__parameters"]
    loaded = manager.pop("remote_policy_controller")
    loaded["type"] = "humanoid_control/JointTrajectoryController"
    manager["trajectory_controller"] = loaded
    del content["remote_policy_controller"]
    parameters = {"stiffness": 20.0, "damping": 2.0, "allow_partial_joints_goal": True}
    content["trajectory_controller"] = {"ros__parameters": parameters}
    return content


def _move(stack: Stack, **fields: Any) -> Any:
    request = MoveJoints.Request(**fields)
    call = stack.client.node.create_client(MoveJoints, f"{NAME}/move").call_async(request)
    stack.client.until(call.done, "the answer")
    return call.result()


def _commanded(stack: Stack) -> Any:
    """Return joint names, times [s] and positions of all ticks since the last call."""
    commands = list(stack.client.commands)
    stack.client.commands.clear()
    times = [it.header.stamp.sec + it.header.stamp.nanosec * 1e-9 for it in commands]
    positions = np.array([it.position for it in commands])
    return list(commands[0].joint_names), np.array(times), positions


def _greatest_acceleration(times: Any, positions: Any) -> float:
    """Return the largest acceleration of commands [rad/s^2]; ticks are up to 60 us late."""
    velocity = np.diff(positions, axis=0) / np.diff(times)[:, None]
    between = (times[2:] - times[:-2]) / 2.0
    return float(np.abs(np.diff(velocity, axis=0) / between[:, None]).max())


def test_a_move_is_commanded_within_its_limits_and_the_joints_get_there(remote: Stack) -> None:
    _commanded(remote)
    names, positions = [*TARGETS], [*TARGETS.values()]
    answer = _move(remote, joint_names=names, positions=positions, duration=2.0)
    assert answer.success, answer.message
    remote.pass_time(4.0)
    joints, times, commanded = _commanded(remote)
    rows = [joints.index(name) for name in names]
    assert commanded[-1, rows] == pytest.approx(positions, abs=1e-6)
    assert _greatest_acceleration(times, commanded) <= ACCELERATION * 1.001
    state = remote.client.joint_states[-1]
    measured = dict(zip(state.name, state.position, strict=True))
    for name, target in TARGETS.items():  # less load / stiffness
        assert measured[name] == pytest.approx(target, abs=0.16)


def test_a_stop_on_the_way_is_no_step(remote: Stack) -> None:
    remote.client.commands.clear()
    answer = _move(remote, joint_names=[*TARGETS], positions=[*TARGETS.values()])
    assert answer.success, answer.message
    remote.pass_time(0.3)
    call = remote.client.node.create_client(Trigger, f"{NAME}/stop").call_async(Trigger.Request())
    remote.client.until(call.done, "the answer")
    remote.pass_time(1.0)
    _, times, commanded = _commanded(remote)
    assert _greatest_acceleration(times, commanded) <= ACCELERATION * 1.001
    assert not np.diff(commanded[-20:], axis=0).any()


def test_a_jog_whose_sender_dies_ends_within_the_stated_time(remote: Stack) -> None:
    states: list[TrajectoryState] = []
    remote.client.listen(TrajectoryState, f"{NAME}/state", states.append)
    jogs = remote.client.node.create_publisher(JointJog, f"{NAME}/jog", 10)
    for _ in range(20):
        jogs.publish(JointJog(joint_names=["left_elbow_pitch"], velocities=[-0.5]))
        remote.pass_time(0.05)
    remote.client.commands.clear()
    remote.pass_time(0.2 + 0.5 / (0.9 * ACCELERATION) + 2 * PERIOD)
    remote.client.commands.clear()
    remote.pass_time(0.5)
    joints, _, commanded = _commanded(remote)
    assert not np.diff(commanded, axis=0).any()
    assert commanded[-1, joints.index("left_elbow_pitch")] < -0.7
    assert states[-1].status == TrajectoryState.CANCELED


def test_a_drive_error_on_the_way_ends_the_goal_and_the_robot_falls(remote: Stack) -> None:
    states: list[TrajectoryState] = []
    remote.client.listen(TrajectoryState, f"{NAME}/state", states.append)
    assert _move(remote, joint_names=[*TARGETS], positions=[*TARGETS.values()]).success
    remote.pass_time(0.2)
    remote.control.drive_error(3, 0x8611)  # left_elbow_pitch
    remote.falls()
    remote.pass_time(0.2)
    assert states[-1].status == TrajectoryState.ENDED
