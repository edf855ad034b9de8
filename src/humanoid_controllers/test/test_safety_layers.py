"""The five layers of safety: each alone, with the others disabled, and all of them together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_control_common.robot.joints import JointSet
from humanoid_control_common.robot.mit_interface import JointState
from humanoid_control_common.rules.modes import SAFE_MODES, Intent, Mode
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel, SafetyReport
from humanoid_controller_manager.safety.measurement_check import ASSUMED_FRICTION, MeasurementCheck
from humanoid_controllers.remote import RemoteCommand

STIFF = [Mode.STANDBY, Mode.REMOTE]


def _in(robot_type: Any, mode: Mode, **options: Any) -> Any:
    return robot_type(**options).enter(mode)


def _tick_alone(robot: Any, count: int = 1) -> Any:
    """Run ticks of the loop without the mode manager."""
    for _ in range(count):
        robot.time += 0.01
        robot.loop.tick(robot.time, 0.01, lambda: robot.time)
    return robot.loop.snapshot


# 1: the hardware reports, and does not act.


def test_layer_1_alone_reports_source_flags_and_message_and_leaves_the_mode(
    robot_type: Any,
) -> None:
    robot = _in(robot_type, Mode.STANDBY)
    fault = SafetyReport("arm", SafetyLevel.FAULT, SafetyFlag.MOTOR_FAULT, "elbow: 0x8500")
    robot.hardware.fault = fault
    snapshot = _tick_alone(robot, 5)
    assert snapshot.reports == (fault,)
    assert snapshot.mode is Mode.STANDBY


# 2: a controller refuses invalid commands before any other layer receives them.


def test_layer_2_alone_commands_no_gains_for_a_command_that_never_arrived(robot_type: Any) -> None:
    robot = _in(robot_type, Mode.REMOTE)
    robot.controllers[Mode.REMOTE].inner.receive(_remote(robot, 0.2))
    snapshot = _tick_alone(robot, 50)
    assert snapshot.mode is Mode.REMOTE  # no other layer has acted
    assert not snapshot.command.stiffness.any()
    assert not snapshot.command.damping.any()


def _remote(robot: Any, position: float) -> Any:
    command = np.zeros((5, 3))
    command[0], command[3], command[4] = position, 20.0, 2.0
    return RemoteCommand(command, robot.time)


# 3: the loop replaces a failing controller in the same tick, at last by limp joints.


@pytest.mark.parametrize("mode", STIFF)
@pytest.mark.parametrize("how", ["update", "nan"])
def test_layer_3_alone_has_the_fallback_command_in_the_same_tick(
    robot_type: Any, mode: Mode, how: str
) -> None:
    robot = _in(robot_type, mode)
    robot.controllers[mode].fail = how
    assert _tick_alone(robot).mode is Mode.DAMPING
    assert np.array_equal(robot.hardware.written[-1][3:], [[0.0] * 3, [6.0] * 3])


def test_layer_3_alone_is_limp_when_damping_fails_too(robot_type: Any) -> None:
    robot = _in(robot_type, Mode.STANDBY)
    robot.controllers[Mode.STANDBY].fail = robot.controllers[Mode.DAMPING].fail = "update"
    assert _tick_alone(robot).mode is Mode.ZERO_TORQUE
    assert not robot.hardware.written[-1].any()


# 4: the mode manager.


@pytest.mark.parametrize("mode", [Mode.ZERO_TORQUE, *STIFF])
@pytest.mark.parametrize("level", list(SafetyLevel))
def test_layer_4_alone_goes_to_damping_on_fault_and_critical_only(
    robot_type: Any, mode: Mode, level: SafetyLevel
) -> None:
    robot = _in(robot_type, mode)
    robot.safety.report(SafetyReport("battery", level, message="cell 3"), robot.time)
    robot.observe()
    expected = Mode.DAMPING if level >= SafetyLevel.FAULT else mode
    assert robot.tick(2).mode is expected
    assert ("battery reports" in robot.message) == (expected is not mode)


def test_layer_4_alone_is_limp_when_damping_cannot_be_had(robot_type: Any) -> None:
    robot = _in(robot_type, Mode.STANDBY)
    robot.controllers[Mode.DAMPING].fail = "on_activate"
    robot.safety.report(SafetyReport("battery", SafetyLevel.CRITICAL), robot.time)
    assert robot.tick(3).mode is Mode.ZERO_TORQUE
    assert not robot.hardware.written[-1].any()
    assert robot.tick(50).mode is Mode.ZERO_TORQUE  # and no request is accepted, not even DAMPING


def test_layer_4_alone_goes_down_when_a_source_falls_silent(robot_type: Any) -> None:
    robot = _in(robot_type, Mode.STANDBY, deadlines={"watch": 0.9})
    assert robot.tick(120).mode is Mode.DAMPING
    assert "watch silent for" in robot.message


@pytest.mark.parametrize("intent", [Intent.LOAD, Intent.START_REMOTE, Intent.ZERO_TORQUE])
def test_layer_4_never_leaves_a_fall_by_itself_nor_on_request(
    robot_type: Any, intent: Intent
) -> None:
    robot = _in(robot_type, Mode.REMOTE)
    robot.safety.report(SafetyReport("battery", SafetyLevel.FAULT), robot.time)
    robot.tick(2)
    robot.safety.report(SafetyReport("battery"), robot.time)
    assert robot.tick(200).mode is Mode.DAMPING
    assert not robot.ask(intent).accepted
    assert robot.tick(2).mode is Mode.DAMPING
    assert robot.modes.clear_fault(robot.time).accepted


# 5: the loop monitors the ROS side and the measurements.


@pytest.mark.parametrize("mode", STIFF)
def test_layer_5_alone_goes_to_damping_when_the_ros_side_stalls(
    robot_type: Any, mode: Mode
) -> None:
    robot = _in(robot_type, mode)
    robot.loop.heartbeat()
    _tick_alone(robot, 25)
    assert robot.mode is Mode.DAMPING
    assert "ROS side silent" in robot.loop.snapshot.fall.reason.text


class Runaway:
    """Makes the measured elbow move at 9 rad/s."""

    def __init__(self, robot: Any) -> None:
        self._read = robot.hardware.read
        robot.hardware.read = self

    def __call__(self, state: JointState, now: float, period: float) -> None:
        self._read(state, now, period)
        state.velocity[1] = 9.0


def _supervised(robot_type: Any, mode: Mode, facts: Any) -> Any:
    robot = robot_type()
    limit, friction = 1.5 * facts.limits.velocity, ASSUMED_FRICTION * facts.limits.effort
    robot.loop.set_measurement_check(
        MeasurementCheck(JointSet(facts.joints.names), limit, friction, 100.0)
    )
    return robot.enter(mode)


@pytest.mark.parametrize("mode", [Mode.ZERO_TORQUE, *STIFF])
def test_layer_5_alone_goes_to_damping_when_a_joint_runs_away(
    robot_type: Any, facts: Any, mode: Mode
) -> None:
    robot = _supervised(robot_type, mode, facts)
    Runaway(robot)
    assert _tick_alone(robot, 2).mode is Mode.DAMPING


# All together.


def test_together_a_runaway_is_latched_stated_and_cleared(robot_type: Any, facts: Any) -> None:
    robot = _supervised(robot_type, Mode.REMOTE, facts)
    healthy = robot.hardware.read
    Runaway(robot)
    robot.tick(2)
    assert "Fell to safety: elbow moves at 9 rad/s" in robot.message
    robot.hardware.read = healthy
    robot.tick(5)
    assert not robot.ask(Intent.LOAD).accepted
    assert robot.modes.clear_fault(robot.time).accepted
    assert robot.ask(Intent.LOAD).accepted


def test_all_layers_together_keep_the_robot_soft_during_simultaneous_faults(
    robot_type: Any, facts: Any
) -> None:
    robot = _supervised(robot_type, Mode.STANDBY, facts)
    Runaway(robot)
    robot.hardware.fault = SafetyReport("arm", SafetyLevel.CRITICAL, SafetyFlag.BUS_OFF)
    robot.safety.report(SafetyReport("battery", SafetyLevel.FAULT), robot.time)
    robot.controllers[Mode.STANDBY].fail = "nan"
    for _ in range(200):
        robot.ask(Intent.LOAD)
        robot.tick()
        assert robot.mode in SAFE_MODES
        assert not robot.hardware.written[-1][1:4].any()
    assert not robot.modes.clear_fault(robot.time).accepted
