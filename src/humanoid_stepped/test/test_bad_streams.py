"""Bad streams in REMOTE: no target of any joint is faster than its limit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from random import Random
from typing import Any

import numpy as np
import pytest
from humanoid_control_msgs.msg import MITCommand, SafetyStatus
from std_msgs.msg import String
from test_support.client import Client
from test_support.operator import LATCHED
from test_support.stepped.stack import Stack

from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware.urdf import RobotDescription, parse_robot_description
from humanoid_controller_manager.reason_codes import JOINT_DOES_NOT_FOLLOW, JOINT_TOO_FAST

PERIOD = 0.02  # [s] of the stream and of the control loop
LATE = 1.02  # ticks are up to 60 µs late
FALLS = {JOINT_TOO_FAST.name, JOINT_DOES_NOT_FOLLOW.name}
WRONG = (math.nan, math.inf, -math.inf, 1e12, -1e300)


class BadSender:
    """Random targets in the range of all joints, in messages that are lost, late or wrong."""

    def __init__(self, names: list[str], lower: Any, upper: Any, seed: int) -> None:
        self._names, self._lower, self._upper = names, lower, upper
        self._dice, self._kept = Random(seed), list[MITCommand]()
        self._loss = self._dice.uniform(0.0, 0.3)
        self._target = np.zeros(len(names))

    def messages(self) -> Iterator[MITCommand]:
        """Yield the commands that arrive in one period."""
        dice = self._dice
        if dice.random() < 0.1:
            self._target = np.array(
                [dice.uniform(*ends) for ends in zip(self._lower, self._upper, strict=True)]
            )
        message = self._command()
        if dice.random() < 0.1:
            self._spoil(message)
        if dice.random() < self._loss:
            return
        if dice.random() < 0.2:
            self._kept.append(message)  # the command comes later, and out of order
            return
        yield message
        if self._kept and dice.random() < 0.3:
            dice.shuffle(self._kept)
            while self._kept:
                yield self._kept.pop()

    def _command(self) -> MITCommand:
        count = len(self._names)
        return MITCommand(
            joint_names=self._names,
            position=self._target.tolist(),
            velocity=[0.0] * count,
            effort=[0.0] * count,
            stiffness=[20.0] * count,
            damping=[2.0] * count,
        )

    def _spoil(self, message: MITCommand) -> None:
        dice = self._dice
        field = dice.choice(("position", "velocity", "effort", "stiffness", "damping"))
        getattr(message, field)[dice.randrange(len(self._names))] = dice.choice(WRONG)
        if dice.random() < 0.2:
            message.joint_names = dice.sample(self._names, len(self._names))


def _at(message: Any) -> tuple[int, int]:
    return message.header.stamp.sec, message.header.stamp.nanosec


def _described(client: Client) -> RobotDescription:
    texts: list[String] = []
    client.listen(String, "/robot_description", texts.append, LATCHED)
    client.until(lambda: texts, "the description")
    return parse_robot_description(texts[0].data, 1 / PERIOD)


def _driving_speeds(client: Client) -> FloatArray:
    """Return the speeds of targets away from their joints, (ticks, n_joints) [rad/s].

    A target may move to its joint at once: this reduces the torque.
    """
    states = {_at(it): it.position for it in client.joint_states}
    written = [it for it in client.commands if _at(it) in states]
    targets = np.array([it.position for it in written])
    away = targets - np.array([states[_at(it)] for it in written])  # [rad] from the joint
    stiff = np.array([it.stiffness for it in written]) > 0.0
    time = np.array([sec + nanosec * 1e-9 for sec, nanosec in map(_at, written)])
    step = np.diff(targets, axis=0)
    driving = (step * away[1:] > 0.0) & stiff[1:] & stiff[:-1]
    speeds: FloatArray = np.where(driving, np.abs(step), 0.0) / np.diff(time)[:, None]
    return speeds


@pytest.mark.parametrize(
    ("seed", "seconds"),
    [(1, 3.0), *(pytest.param(it, 6.0, marks=pytest.mark.soak) for it in range(2, 40))],
)
def test_no_joint_is_commanded_faster_than_its_limit_by_a_bad_stream(
    any_robot: Stack, seed: int, seconds: float
) -> None:
    robot, client = any_robot, any_robot.client
    robot.enter(Mode.STANDBY)
    client.until(robot.has_finished_standby, "the ready pose")
    robot.enter(Mode.REMOTE)
    described = _described(client)
    names, limits = list(described.joints.names), described.limits
    sender = BadSender(names, limits.lower, limits.upper, seed)
    commands = client.node.create_publisher(MITCommand, "/remote_policy_controller/command", 10)
    client.commands.clear()
    for _ in range(round(seconds / PERIOD)):
        for message in sender.messages():
            commands.publish(message)
        robot.pass_time(PERIOD)
    stays = client.now.mode == Mode.REMOTE
    # A soft arm swings faster than its target moves, and into its stops.
    assert stays or FALLS.intersection(client.now.reason_codes), client.now.status_message
    speeds = _driving_speeds(client)
    assert len(speeds) > 0.9 * seconds / PERIOD
    assert not stays or (speeds > 0.0).mean() > 0.1
    assert (speeds <= LATE * limits.velocity).all()
    assert (np.abs([it.velocity for it in client.commands]) <= limits.velocity).all()


def test_a_report_that_is_too_large_is_not_read_and_a_small_one_counts(any_robot: Stack) -> None:
    robot, client = any_robot, any_robot.client
    robot.enter(Mode.STANDBY)
    reports = client.node.create_publisher(SafetyStatus, "/safety_status", LATCHED)
    fault = SafetyStatus(level=SafetyStatus.FAULT, source="guest", message="hot")
    reports.publish(SafetyStatus(level=fault.level, source="guest", reason_codes=["X"] * 10_000))
    robot.pass_time(0.5)
    assert client.now.mode == Mode.STANDBY
    reports.publish(fault)
    robot.pass_time(0.5)
    assert client.now.mode == Mode.DAMPING
