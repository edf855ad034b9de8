"""The MIT interface: the law, valid commands, arrays and their rows."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from humanoid_control_common.robot.mit_interface import (
    COMMAND_INTERFACES,
    STATE_INTERFACES,
    JointCommand,
    JointState,
    mit_torque,
)

moderate = st.floats(-1e6, 1e6)
any_float = st.floats(allow_nan=True, allow_infinity=True)


def _state(position: float, velocity: float) -> JointState:
    state = JointState(1)
    state.array[:, 0] = position, velocity, 0.0
    return state


def _command(*column: float) -> JointCommand:
    command = JointCommand(1)
    command.array[:, 0] = column
    return command


@pytest.mark.parametrize(
    ("command", "torque"),
    [
        pytest.param((0.5, 0.0, 0.0, 20.0, 2.0), 20 * (0.5 - 0.2) - 2 * 1.5, id="impedance"),
        pytest.param(
            (0.5, 1.0, 3.0, 20.0, 2.0), 20 * 0.3 + 2 * (1.0 - 1.5) + 3.0, id="computed torque"
        ),
        pytest.param((0.5, 0.0, 0.0, 0.0, 6.0), -6 * 1.5, id="damping only"),
        pytest.param((0.5, 9.0, 4.0, 0.0, 0.0), 4.0, id="pure torque"),
        pytest.param((0.5, 9.0, 0.0, 0.0, 0.0), 0.0, id="zero torque"),
    ],
)
def test_the_law_holds_in_every_regime(command: tuple[float, ...], torque: float) -> None:
    assert mit_torque(_command(*command), _state(0.2, 1.5))[0] == pytest.approx(torque, abs=1e-12)


@given(arrays(np.float64, (5, 2), elements=moderate), arrays(np.float64, (3, 2), elements=moderate))
def test_the_law_holds_joint_by_joint(command_array: np.ndarray, state_array: np.ndarray) -> None:
    command, state = JointCommand(2, command_array), JointState(2, state_array)
    torque = mit_torque(command, state)
    for i in range(2):
        position, velocity, effort, stiffness, damping = command_array[:, i]
        q, dq, _ = state_array[:, i]
        assert torque[i] == stiffness * (position - q) + damping * (velocity - dq) + effort


def test_interfaces_have_the_names_of_ros2_control_in_row_order() -> None:
    assert COMMAND_INTERFACES == ("position", "velocity", "effort", "stiffness", "damping")
    assert STATE_INTERFACES == ("position", "velocity", "effort")


@pytest.mark.parametrize("kind", [JointState, JointCommand])
def test_named_rows_are_views_of_the_array(kind: type) -> None:
    values = kind(3)
    names = STATE_INTERFACES if kind is JointState else COMMAND_INTERFACES
    assert values.array.shape == (len(names), 3)
    for row, name in enumerate(names):
        getattr(values, name)[:] = row + 0.5
        assert values.array[row].tolist() == [row + 0.5] * 3
        values.array[row] = -row
        assert getattr(values, name).tolist() == [-row] * 3


@pytest.mark.parametrize("kind", [JointState, JointCommand])
@pytest.mark.parametrize("name", STATE_INTERFACES)
def test_assigning_to_a_row_never_tears_it_off_its_array(kind: type, name: str) -> None:
    """`command.position = x` either changes the array or is refused; both are safe."""
    values = kind(3)
    with suppress(AttributeError):
        setattr(values, name, np.array([1.0, 2.0, 3.0]))
    assert np.shares_memory(getattr(values, name), values.array)


@pytest.mark.parametrize("kind", [JointState, JointCommand])
def test_a_given_array_is_used_as_storage(kind: type) -> None:
    array = np.zeros((3 if kind is JointState else 5, 2))
    values = kind(2, array)
    array[0] = 4.0
    assert values.array is array
    assert values.position.tolist() == [4.0, 4.0]


@pytest.mark.parametrize("kind", [JointState, JointCommand])
def test_a_copy_has_storage_of_its_own(kind: type) -> None:
    values = kind(2)
    values.array[:] = 1.0
    copy = values.copy()
    values.array[:] = 2.0
    assert np.all(copy.array == 1.0)
    assert not np.shares_memory(copy.array, values.array)
    copy.position[:] = 3.0
    assert np.all(copy.array[0] == 3.0)


def test_unmeasured_joints_are_not_a_number_and_uncommanded_ones_limp() -> None:
    assert np.isnan(JointState(2).array).all()
    assert not JointCommand(2).array.any()
    assert JointCommand(2).is_valid()


@given(arrays(np.float64, (5, 3), elements=any_float))
def test_only_finite_commands_without_negative_gains_are_valid(array: np.ndarray) -> None:
    command = JointCommand(3, array)
    bad = ~np.isfinite(array).all(axis=0) | (array[3:] < 0.0).any(axis=0)
    assert command.invalid_joints()[bad].all()
    if bad.any():
        assert not command.is_valid()
    elif np.abs(array).max() < 1e100:
        assert command.is_valid()


@given(arrays(np.float64, (5, 3), elements=any_float))
def test_a_command_is_invalid_exactly_when_a_joint_is(array: np.ndarray) -> None:
    command = JointCommand(3, array)
    assert bool(command.is_valid()) == (not command.invalid_joints().any())


@pytest.mark.parametrize("row", range(5))
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_single_value_that_is_not_finite_makes_the_command_invalid(row: int, value: float) -> None:
    command = JointCommand(3)
    command.array[row, 1] = value
    assert not command.is_valid()
    assert command.invalid_joints().tolist() == [False, True, False]


def test_infinities_of_both_signs_do_not_cancel() -> None:
    command = JointCommand(2)
    command.position[:] = np.inf, -np.inf
    assert not command.is_valid()


@pytest.mark.parametrize("row", [3, 4])
def test_negative_gains_are_invalid_and_minus_zero_is_not(row: int) -> None:
    command = JointCommand(3)
    command.array[row, 2] = -0.0
    assert command.is_valid()
    command.array[row, 2] = -1e-300
    assert not command.is_valid()
    assert command.invalid_joints().tolist() == [False, False, True]


def test_negative_targets_are_valid() -> None:
    command = JointCommand(2)
    command.array[:3] = -5.0
    assert command.is_valid()
