"""ZERO_TORQUE and DAMPING."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_control_common.rules.modes import Mode
from humanoid_controllers.passive_controllers import DampingController, ZeroTorqueController


def _update(controller: Any, state: Any) -> JointCommand:
    command = JointCommand(3)
    command.array.fill(9.0)  # any former values
    controller.update(state, command, 1.0, 0.01)
    return command


def test_zero_torque_is_zero_on_every_interface(make: Any, at: Any) -> None:
    controller = make(ZeroTorqueController)
    controller.on_activate(at(0.5), JointCommand(3), 0.0)
    assert not _update(controller, at(0.5)).array.any()


def test_damping_damps_and_nothing_else(make: Any, at: Any) -> None:
    controller = make(DampingController)
    controller.on_activate(at([0.1, 0.2, 0.3]), JointCommand(3), 0.0)
    command = _update(controller, at(0.0))
    assert command.position.tolist() == [0.1, 0.2, 0.3]
    assert not command.array[1:4].any()
    assert command.damping.tolist() == [6.0] * 3
    assert (controller.gains.stiffness, controller.gains.damping) == (0.0, 6.0)  # of the drives


def test_damping_keeps_the_pose_captured_at_activation(make: Any, at: Any) -> None:
    controller = make(DampingController)
    state = at([0.1, 0.2, 0.3])
    controller.on_activate(state, JointCommand(3), 0.0)
    state.position[:] = -1.0  # the loop reuses the array
    assert _update(controller, state).position.tolist() == [0.1, 0.2, 0.3]
    controller.on_activate(state, JointCommand(3), 1.0)
    assert _update(controller, state).position.tolist() == [-1.0] * 3


@pytest.mark.parametrize("controller", [ZeroTorqueController, DampingController])
def test_controllers_of_soft_modes_need_no_capability(controller: Any) -> None:
    assert controller.needs == {}
    assert controller.mode in {Mode.ZERO_TORQUE, Mode.DAMPING}


@pytest.mark.parametrize("damping", [-1.0, 0.0, np.nan, np.inf, "6"])
def test_damping_must_be_a_finite_number_above_zero(make: Any, damping: Any) -> None:
    with pytest.raises(ValidationError):
        make(DampingController, damping=damping)


@pytest.mark.parametrize("mode", [Mode.ZERO_TORQUE, Mode.DAMPING])
def test_the_loop_writes_the_commands_of_the_soft_modes(robot: Any, mode: Mode) -> None:
    robot.enter(mode)
    robot.tick(3)
    damping = 6.0 if mode is Mode.DAMPING else 0.0
    assert not robot.hardware.written[-1][1:4].any()
    assert robot.hardware.written[-1][4].tolist() == [damping] * 3
