"""A motion recorded from a guided arm is played without a change."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builtin_interfaces.msg import Duration
from humanoid_control_msgs.msg import TrajectoryState
from humanoid_control_msgs.srv import FollowTrajectory
from test_support.stepped.own_remote import NAME, ask, in_remote, trajectories
from test_support.stepped.stack import Stack
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from humanoid_control_common.robot.joints import FloatArray, JointSet
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_motion.motion_file.motion import Motion, motion_text, read_motion
from humanoid_motion.motion_file.playing import played
from humanoid_motion.motion_file.smoothing import smoothed
from humanoid_motion.trajectory.limits import MotionLimits

HAND = "left_hand_link"
RATE = 50.0  # [Hz]
FORCES = ((10.0, 0.0, 5.0), (6.0, 6.0, 8.0), (-8.0, 0.0, 4.0), (0.0, 0.0, 0.0))  # [N], 1 s each
VELOCITY, ACCELERATION = 2.0, 3.5  # [rad/s], [rad/s²]


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """Prime, guided by hand."""
    return in_remote(tmp_path_factory.mktemp("taught"), "TeachController")


@pytest.fixture(scope="module")
def player(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """Prime on trajectories, held against gravity."""
    return trajectories(tmp_path_factory.mktemp("player"), compensates=True)


def measured(stack: Stack, names: tuple[str, ...]) -> tuple[FloatArray, FloatArray]:
    """Return times [s] from 0 and positions of the received joint states, and drop these."""
    states = list(stack.client.joint_states)
    stack.client.joint_states.clear()
    times = [it.header.stamp.sec + it.header.stamp.nanosec * 1e-9 for it in states]
    rows = [dict(zip(it.name, it.position, strict=True)) for it in states]
    positions = np.array([[row[name] for name in names] for row in rows])
    return np.array(times) - times[0], positions


def show(stack: Stack) -> Motion:
    """Guide an arm by hand; return the motion."""
    known = parse_robot_description(stack.robot.urdf, RATE)
    stack.client.joint_states.clear()
    for force in FORCES:
        stack.control.wrench(HAND, force=force)
        stack.pass_time(1.0)
    joints, count = known.joints, len(known.joints)
    limits = MotionLimits(
        known.limits.target_lower,
        known.limits.target_upper,
        np.full(count, VELOCITY),
        np.full(count, ACCELERATION),
        np.full(count, np.inf),
    )
    found = smoothed(*measured(stack, joints.names), limits, joints)
    return Motion("prime", "today", VELOCITY, ACCELERATION, joints.names, *found)


def play(stack: Stack, motion: Motion, speed: float) -> Any:
    """Request the motion from the present pose; return the answer and the duration [s]."""
    stack.client.joint_states.clear()
    stack.pass_time(0.1)
    present = measured(stack, motion.joints)[1][-1]
    points = played(motion, present, speed, np.full(len(motion.joints), VELOCITY))
    trajectory = JointTrajectory(
        joint_names=list(motion.joints),
        points=[
            JointTrajectoryPoint(
                positions=list(it.positions),
                time_from_start=Duration(sec=int(it.time), nanosec=int(it.time % 1.0 * 1e9)),
            )
            for it in points
        ],
    )
    request = FollowTrajectory.Request(trajectory=trajectory)
    return ask(stack, FollowTrajectory, f"{NAME}/follow", request), points[1].time, points[-1].time


@pytest.mark.parametrize("speed", [0.5, 1.0])
def test_the_shown_motion_is_kept_in_a_file_and_played(
    taught: Stack, player: Stack, tmp_path: Path, speed: float
) -> None:
    shown = show(taught)
    assert np.ptp(shown.positions, axis=0).max() > 0.5
    path = tmp_path / "motion.yaml"
    path.write_text(motion_text(shown, "shown"))
    assert path.stat().st_size < 20_000
    found = read_motion(path)
    known = parse_robot_description(player.robot.urdf, RATE)
    low, high = known.limits.target_lower, known.limits.target_upper
    found.check(JointSet(shown.joints), low, high, speed)
    states: list[TrajectoryState] = []
    player.client.listen(TrajectoryState, f"{NAME}/state", states.append)
    answer, begin, duration = play(player, found.motion, speed)
    assert answer.success, answer.message
    player.client.joint_states.clear()
    player.pass_time(duration + 2.0)
    assert states[-1].status == TrajectoryState.SUCCEEDED, states[-1].message
    times, positions = measured(player, shown.joints)
    expected = np.stack(
        [np.interp(times, begin + shown.times / speed, column) for column in shown.positions.T],
        axis=1,
    )
    after = times > begin
    # Damping acts against the whole speed of an eRob, not against the difference: the joint lags.
    lag = 0.25 * speed
    assert np.abs(positions - expected)[after].max() < 0.02 + lag
    assert np.abs(positions[-1] - shown.positions[-1]).max() < 0.02
    assert np.abs(np.diff(positions, axis=0)).max() * RATE < 1.5 * VELOCITY
