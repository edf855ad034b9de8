"""Coupled joints: two joints of the loop that are one of the controller."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError, ControllerError
from humanoid_control_common.robot.joints import JointLimits, JointSet, SoftLimits
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.controller import RobotFacts
from humanoid_servo_controllers.controllers import (
    EffortController,
    MixedPositionVelocityController,
    PositionController,
    ServoController,
    VelocityController,
)
from humanoid_servo_controllers.coupled_joints import CoupledJoints

NAMES = ("j3", "j2", "j1")
J3, J2, J1 = range(3)
COUPLED = {"j0": ["j1", "j2"]}
GAINS = {"gains": {"p": 1.0}, "deadband": 0.0}


def facts() -> RobotFacts:
    lower, upper = np.array([-0.3, -0.1, 0.0]), np.array([1.5, 1.0, 1.2])
    soft = SoftLimits(lower + 0.02, upper - 0.02, np.full(3, 20.0), np.full(3, 1.0))
    velocity, effort = np.array([1.0, 2.0, 3.0]), np.array([5.0, 6.0, 0.4])
    return RobotFacts(JointSet(NAMES), JointLimits(lower, upper, velocity, effort, soft), 1000.0)


class Bench:
    def __init__(self, kind: type[ServoController], **parameters: object) -> None:
        given = parameters if kind is EffortController else {**GAINS, **parameters}
        given = {"coupled_joints": COUPLED, **given}
        self.controller = kind()
        self.controller.on_configure(kind.Parameters.model_validate(given), facts())
        self.state, self.command = JointState(3), JointCommand(3)
        self.state.array[:] = [[0.1, 0.3, 0.2], [0.0, 0.5, 0.25], [0.0, 0.0, 0.0]]
        self.controller.on_activate(self.state, JointCommand(3), 0.0)

    def tick(self, *command: float) -> np.ndarray:
        self.controller.receive(np.array(command), 0.0)
        self.command.array.fill(np.nan)
        self.controller.update(self.state, self.command, 0.001, 0.001)
        return self.command.effort.copy()


def test_the_coupled_joint_has_the_place_of_its_first_one() -> None:
    assert Bench(PositionController).controller.joints.names == ("j3", "j0")


def test_limits_add_up_in_any_order_of_the_joints() -> None:
    for order in ([J3, J2, J1], [J2, J3, J1], [J1, J2, J3]):
        found = CoupledJoints({"j0": ("j1", "j2")}, facts().of(np.array(order))).facts
        row = found.joints.names.index("j0")
        assert found.limits.lower[row] == pytest.approx(-0.1)
        assert found.limits.upper[row] == pytest.approx(2.2)
        assert found.limits.velocity[row] == pytest.approx(5.0)
        assert found.limits.effort[row] == 0.4


@pytest.mark.parametrize(
    ("kind", "sent", "expected"),
    [
        (EffortController, 0.3, 0.3),
        (VelocityController, 1.0, 1.0 - 0.75),
        (PositionController, 0.6, 0.6 - 0.5),
        (MixedPositionVelocityController, 0.57, 0.7 - 0.75),
    ],
)
def test_positions_and_velocities_add_up_and_the_effort_goes_to_the_first(
    kind: type[ServoController], sent: float, expected: float
) -> None:
    bench = Bench(kind)
    effort = bench.tick(0.0, sent)
    assert effort[J1] == pytest.approx(expected)
    assert effort[J2] == 0.0
    np.testing.assert_array_equal(bench.command.position, bench.state.position)
    for row in (bench.command.velocity, bench.command.stiffness, bench.command.damping):
        assert not row.any()


def test_ranges_and_velocities_add_up_and_the_largest_effort_is_that_of_the_first() -> None:
    bench = Bench(PositionController, gains={"p": 100.0})
    assert bench.tick(0.0, 9.0)[J1] == pytest.approx(0.4)
    report = bench.controller.report
    assert report is not None
    np.testing.assert_allclose(report.set_point, [0.0, 0.98 + 1.18])
    bench.controller = Bench(VelocityController).controller
    bench.tick(9.0, 9.0)
    report = bench.controller.report
    assert report is not None
    np.testing.assert_allclose(report.set_point, [1.0, 5.0])


def test_parameters_gains_and_commands_go_by_the_name_of_the_coupled_joint() -> None:
    own = {"j0": {"gains": {"p": 2.0}}}
    bench = Bench(PositionController, joint_parameters=own)
    assert bench.tick(0.0, 0.6)[J1] == pytest.approx(0.2)
    with pytest.raises(ControllerError, match="expected 2: one for each of j3, j0"):
        bench.tick(0.0, 0.6, 0.6)
    with pytest.raises(ConfigError, match=r"joint_parameters: .*j1"):
        Bench(PositionController, joint_parameters={"j1": {}})


def test_the_joints_stay_as_they_are_until_the_first_command() -> None:
    bench = Bench(PositionController)
    bench.controller.update(bench.state, bench.command, 0.001, 0.001)
    assert not bench.command.effort.any()


@pytest.mark.parametrize(
    ("coupled", "message"),
    [
        ({"j1": ["j1", "j2"]}, "'j1' is a joint itself"),
        ({"j0": ["j1", "j4"]}, "j0: no joint 'j4', there are j3, j2, j1"),
        ({"j0": ["j1", "j1"]}, "j0: 'j1' is coupled twice"),
        ({"j0": ["j1", "j2"], "j9": ["j3", "j2"]}, "j9: 'j2' is coupled twice"),
    ],
)
def test_pairs_that_cannot_be_are_refused(coupled: object, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Bench(PositionController, coupled_joints=coupled)


def test_a_pair_has_two_joints() -> None:
    with pytest.raises(ValueError, match="coupled_joints"):
        Bench(PositionController, coupled_joints={"j0": ["j1"]})
