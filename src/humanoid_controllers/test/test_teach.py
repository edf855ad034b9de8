"""A pushed joint moves its target; a joint at rest keeps it."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_control_common.robot.joints import JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import Capability, JointCommand, JointState
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controllers.teach.controller import TeachController

EFFORT = np.array([30.0, 9.0])
HOLD, STIFFNESS, DAMPING = 0.03, 20.0, 2.0
TRAIL = HOLD * EFFORT / STIFFNESS  # [rad]


class Bench:
    """A joint with gains per mode, and one with gains per tick."""

    def __init__(self) -> None:
        limits = JointLimits(np.full(2, -1.0), np.full(2, 1.0), np.full(2, 3.0), EFFORT)
        levels = np.full((5, 2), Capability.PER_TICK, dtype=np.int8)
        levels[3:, 0] = Capability.PER_MODE
        facts = RobotFacts(JointSet(("arm", "wrist")), limits, 50.0, levels)
        self.controller = TeachController()
        given = {"stiffness": STIFFNESS, "damping": DAMPING, "hold": HOLD}
        self.controller.on_configure(TeachController.Parameters.model_validate(given), facts)
        self.state, self.command = JointState(2), JointCommand(2)
        self.state.array.fill(0.0)
        self.controller.on_activate(self.state, self.command, 0.0)

    def at(self, position: float) -> np.ndarray:
        self.state.position[:] = position
        self.controller.update(self.state, self.command, 0.0, 0.02)
        return self.command.position.copy()


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_target_stays_until_the_joint_pulls_harder_than_it_holds(bench: Bench) -> None:
    np.testing.assert_array_equal(bench.at(0.01), 0.0)
    np.testing.assert_allclose(bench.at(0.5), 0.5 - TRAIL)
    np.testing.assert_allclose(bench.at(0.6), 0.6 - TRAIL)
    np.testing.assert_allclose(bench.at(0.59), 0.6 - TRAIL)  # released: the joint stays
    np.testing.assert_allclose(bench.at(0.3), 0.3 + TRAIL)


def test_a_target_stays_in_the_range_and_leaves_its_end_with_the_joint(bench: Bench) -> None:
    np.testing.assert_array_equal(bench.at(1.5), 1.0)
    np.testing.assert_allclose(bench.at(0.9), 0.9 + TRAIL)


def test_joints_with_gains_per_mode_keep_those_and_others_turn_easily(bench: Bench) -> None:
    bench.at(0.0)
    np.testing.assert_array_equal(bench.command.stiffness, STIFFNESS)
    np.testing.assert_allclose(bench.command.damping, [DAMPING, HOLD * EFFORT[1] / 0.5])
    assert not bench.command.array[1:3].any()
    assert bench.controller.gains == (STIFFNESS, DAMPING)


def test_guided_arm_is_held_against_gravity(bench: Bench) -> None:
    assert bench.controller.compensates_gravity
