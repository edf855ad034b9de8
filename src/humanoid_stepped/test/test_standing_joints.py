"""A joint that stands still although it is pulled: held by its friction, or by a dead encoder."""

from __future__ import annotations

import math
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from humanoid_control_msgs.msg import MITCommand
from test_support.controllers import write_controllers
from test_support.stepped.prime import Prime
from test_support.stepped.stack import Stack

from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.safety.loop_diagnoses import STANDING

YAW = "left_wrist_yaw"
FRICTION = 0.4  # [Nm]
STIFFNESS = 20.0  # [Nm/rad]
PERIOD = 0.02  # [s] of the stream and of the control loop
FREQUENCY = 0.5  # [Hz]
NO_MOTION = 0.9 * FRICTION / STIFFNESS  # [rad] of a swing that friction withstands
SWING = 0.2  # [rad]: the pull changes by 8 Nm, less than the third of the limit, 10 Nm


def _in_remote(folder: Path, frictions: dict[str, float], friction: float = FRICTION) -> Stack:
    """Prime in REMOTE. A wrist yaw has friction; `frictions` is what the loop knows of it."""
    file = write_controllers(folder, 1.0)
    content = yaml.safe_load(file.read_text())
    content["controller_manager"]["ros__parameters"]["static_frictions"] = frictions
    file.write_text(yaml.safe_dump(content))
    ends = {"forward": [[-2.5, friction], [2.5, friction]]}
    ends["backward"] = [[-2.5, -friction], [2.5, -friction]]
    stack = Prime(folder, friction={YAW: ends}, controllers_file=file)
    stack.up()
    stack.damped()
    stack.enter(Mode.STANDBY)
    stack.client.until(stack.has_finished_standby, "the ready pose")
    stack.enter(Mode.REMOTE)
    return stack


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """A robot whose loop knows the friction of the joint."""
    return _in_remote(tmp_path_factory.mktemp("known"), {YAW: FRICTION})


@pytest.fixture(scope="module")
def unknown(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """The same robot; the loop assumes the friction."""
    return _in_remote(tmp_path_factory.mktemp("unknown"), {})


def stream(robot: Stack, offsets: Iterable[float], stiffness: float = STIFFNESS) -> None:
    """Command the joint to these offsets [rad] from where it is, one in each period."""
    commands = robot.client.node.create_publisher(
        MITCommand, "/remote_policy_controller/command", 10
    )
    state = robot.client.joint_states[-1]
    names, count = list(state.name), len(state.name)
    start = list(state.position)
    for offset in offsets:
        target = start.copy()
        target[names.index(YAW)] += offset
        commands.publish(
            MITCommand(
                joint_names=names,
                position=target,
                velocity=[0.0] * count,
                effort=[0.0] * count,
                stiffness=[stiffness] * count,
                damping=[2.0] * count,
            )
        )
        robot.pass_time(PERIOD)


def swing(robot: Stack, amplitude: float, seconds: float, stiffness: float = STIFFNESS) -> None:
    """Swing the target of the joint by an amplitude [rad] around where the joint is."""
    turns = (2.0 * math.pi * FREQUENCY * tick * PERIOD for tick in range(round(seconds / PERIOD)))
    stream(robot, (amplitude * math.sin(turn) for turn in turns), stiffness)


def test_a_joint_held_by_its_friction_is_no_dead_encoder(known: Stack) -> None:
    found: list[str] = []

    def note(message: DiagnosticArray) -> None:
        found.extend(
            value.value
            for status in message.status
            if status.name.endswith(STANDING)
            for value in status.values
            if value.key.startswith(YAW)
        )

    known.client.listen(DiagnosticArray, "/diagnostics", note)
    swing(known, NO_MOTION, 6.0)
    assert known.client.now.mode == Mode.REMOTE, known.client.now.status_message
    pull, bound = map(float, found[-1].split(" of "))
    assert 1.6 * FRICTION < pull < 2.0 * FRICTION
    assert bound == pytest.approx(3.0 * FRICTION)


def test_a_joint_whose_target_follows_it_need_not_move(known: Stack) -> None:
    """With a commanded stiffness of 0 no target pulls an eRob."""
    swing(known, 0.9, 4.0, stiffness=0.0)
    assert known.client.now.mode == Mode.REMOTE, known.client.now.status_message


def test_a_stream_that_goes_on_far_away_after_stale_commands_is_followed(tmp_path: Path) -> None:
    """The drive's target has followed the joint meanwhile."""
    robot = _in_remote(tmp_path, {}, friction=3.0)  # the loop assumes 3.3 Nm
    stream(robot, [0.0] * 10)
    robot.pass_time(0.5)
    stream(robot, [1.2] * 50)
    assert robot.client.now.mode == Mode.REMOTE, robot.client.now.status_message


def test_a_dead_encoder_of_a_joint_of_known_friction_is_found_in_its_first_swing(
    known: Stack,
) -> None:
    known.control.stick_encoder(YAW)
    swing(known, SWING, 2.0)
    assert known.client.now.mode == Mode.DAMPING
    assert f"{YAW} does not follow" in known.client.now.status_message


def test_below_a_third_of_the_effort_limit_a_dead_encoder_of_unknown_friction_is_not_found(
    unknown: Stack,
) -> None:
    """A known limit of the safety layers."""
    unknown.control.stick_encoder(YAW)
    swing(unknown, SWING, 2.0)
    assert unknown.client.now.mode == Mode.REMOTE
