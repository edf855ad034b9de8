"""The limit stage bounds every command for every measured state."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.robot.joints import JointLimits
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.safety.limit_stage import Limited, LimitStage

LOWER, UPPER, VELOCITY, EFFORT = -1.0, 2.0, 3.0, 10.0
N = 2
LONG = 1e101  # [s] a period in which any target may go anywhere
PERIOD = 0.01  # [s]


def _stage() -> LimitStage:
    return LimitStage(
        JointLimits(np.full(N, LOWER), np.full(N, UPPER), np.full(N, VELOCITY), np.full(N, EFFORT))
    )


def _state(position: Any) -> JointState:
    return JointState(N, np.array([position * np.ones(N), np.zeros(N), np.zeros(N)]))


def _command(**rows: Any) -> JointCommand:
    command = JointCommand(N)
    for name, values in rows.items():
        getattr(command, name)[:] = values
    return command


def _rows(elements: st.SearchStrategy[float]) -> st.SearchStrategy[list[float]]:
    return st.lists(elements, min_size=N, max_size=N)


ANY = st.floats(-1e100, 1e100)
GAIN = st.one_of(st.just(0.0), st.floats(0.0, 1e100), st.floats(0.0, 100.0))
TORQUE = int(Limited.TORQUE)
commands = st.builds(
    _command,
    **dict.fromkeys(("position", "velocity", "effort"), _rows(ANY)),
    **dict.fromkeys(("stiffness", "damping"), _rows(GAIN)),
)
positions = _rows(st.one_of(st.floats(LOWER, UPPER), st.floats(-50.0, 50.0)))
effort_limits = _rows(st.one_of(st.just(0.0), st.floats(0.0, 2 * EFFORT)))


def _applied(
    command: JointCommand, position: list[float], limit: list[float]
) -> tuple[JointCommand, LimitStage]:
    stage = _stage()
    stage.set_effort_limit(np.asarray(limit, dtype=float))
    result = command.copy()
    stage.apply(_state(position), result, LONG)
    return result, stage


@given(commands, positions, effort_limits)
def test_a_valid_command_stays_valid(
    command: JointCommand, position: list[float], limit: list[float]
) -> None:
    result, _ = _applied(command, position, limit)
    assert np.isfinite(result.array).all()
    assert np.array_equal(result.array[3:], command.array[3:])


@given(commands, positions, effort_limits)
def test_the_stiffness_alone_never_asks_for_more_than_the_effort_limit(
    command: JointCommand, position: list[float], limit: list[float]
) -> None:
    result, _ = _applied(command, position, limit)
    asked = result.stiffness * np.abs(result.position - position)
    # A target can't lie closer to the measured position than floats do.
    grain = result.stiffness * np.spacing(np.abs(position) + 1.0)
    assert np.all(asked <= np.minimum(limit, EFFORT) * (1 + 1e-9) + 2 * grain)


@given(commands, positions, effort_limits)
def test_inside_its_range_a_joint_is_only_sent_to_places_inside(
    command: JointCommand, position: list[float], limit: list[float]
) -> None:
    result, _ = _applied(command, position, limit)
    inside = (np.array(position) >= LOWER) & (np.array(position) <= UPPER)
    assert np.all((result.position >= LOWER)[inside])
    assert np.all((result.position <= UPPER)[inside])


@given(commands, positions, effort_limits)
def test_outside_its_range_a_joint_is_only_sent_inward(
    command: JointCommand, position: list[float], limit: list[float]
) -> None:
    result, _ = _applied(command, position, limit)
    above = np.array(position) > UPPER
    below = np.array(position) < LOWER
    assert np.all((result.position <= position)[above])
    assert np.all((result.position >= LOWER)[above])
    assert np.all((result.position >= position)[below])
    assert np.all((result.position <= UPPER)[below])


@given(commands, positions, effort_limits)
def test_velocity_and_effort_stay_within_their_limits(
    command: JointCommand, position: list[float], limit: list[float]
) -> None:
    result, _ = _applied(command, position, limit)
    assert np.all(np.abs(result.velocity) <= VELOCITY)
    assert np.all(np.abs(result.effort) <= np.minimum(limit, EFFORT))


@given(commands, positions, effort_limits)
def test_limiting_twice_changes_nothing(
    command: JointCommand, position: list[float], limit: list[float]
) -> None:
    result, stage = _applied(command, position, limit)
    counts = stage.counts.copy()
    again = result.copy()
    stage.apply(_state(position), again, LONG)
    # The torque is at its bound within the rounding of its terms.
    assert np.allclose(again.array[:3], result.array[:3], rtol=1e-6, atol=1e-9)
    assert np.array_equal(stage.counts[:TORQUE], counts[:TORQUE])


@given(commands, positions, effort_limits)
def test_limit_stage_counts_exactly_the_joints_whose_command_it_changes(
    command: JointCommand, position: list[float], limit: list[float]
) -> None:
    result, stage = _applied(command, position, limit)
    changed = (result.array[:3] != command.array[:3]).any(axis=0)
    assert np.array_equal(stage.counts.any(axis=0), changed)
    assert not stage.counts[Limited.STEP].any()


@given(
    _rows(st.floats(LOWER, UPPER)),
    _rows(st.floats(LOWER, UPPER)),
    _rows(st.floats(-VELOCITY, VELOCITY)),
    _rows(st.floats(-4.0, 4.0)),
    _rows(st.floats(0.0, 1.0)),
)
def test_a_command_within_the_limits_is_not_touched(
    position: list[float],
    target: list[float],
    velocity: list[float],
    effort: list[float],
    stiffness: list[float],
) -> None:
    # 1 Nm/rad over at most 3 rad, 1 Nm s/rad times 3 rad/s and 4 Nm make 10 Nm.
    command = _command(
        position=target, velocity=velocity, effort=effort, stiffness=stiffness, damping=1.0
    )
    result, stage = _applied(command, position, [EFFORT] * N)
    assert np.array_equal(result.array, command.array)
    assert not stage.counts.any()


def test_counts_add_up_by_joint_and_kind() -> None:
    stage = _stage()
    for _ in range(3):
        stage.apply(_state(0.0), _command(velocity=[0.0, -5.0], effort=[99.0, 0.0]), LONG)
    assert stage.counts[Limited.POSITION].tolist() == [0, 0]
    assert stage.counts[Limited.VELOCITY].tolist() == [0, 3]
    assert stage.counts[Limited.EFFORT].tolist() == [3, 0]


def test_a_joint_beyond_its_limit_is_not_snapped_to_it() -> None:
    stage = _stage()
    command = _command(position=[2.6, UPPER + 5.0], stiffness=1.0)
    stage.apply(_state(2.5), command, LONG)
    assert command.position.tolist() == [2.5, 2.5]


def test_a_joint_beyond_its_limit_may_be_moved_inward() -> None:
    stage = _stage()
    command = _command(position=[2.3, 0.5], stiffness=1.0)
    stage.apply(_state(2.5), command, LONG)
    assert command.position.tolist() == [2.3, 0.5]
    assert not stage.counts.any()


def test_without_stiffness_the_distance_does_not_matter() -> None:
    stage = _stage()
    command = _command(position=[LOWER, UPPER])
    stage.apply(_state([UPPER, LOWER]), command, LONG)
    assert command.position.tolist() == [LOWER, UPPER]


def test_the_components_limit_never_exceeds_that_of_the_description() -> None:
    stage = _stage()
    stage.set_effort_limit(np.asarray([1000.0, 4.0], dtype=float))
    command = _command(effort=[50.0, -50.0])
    stage.apply(_state(0.0), command, LONG)
    assert command.effort.tolist() == [EFFORT, -4.0]


@pytest.mark.parametrize("limit", [-1.0, -np.inf])
def test_a_components_limit_below_zero_allows_no_effort(limit: float) -> None:
    stage = _stage()
    stage.set_effort_limit(np.full(N, limit))
    assert stage.effort_limit.tolist() == [0.0] * N
    command = _command(effort=5.0)
    stage.apply(_state(0.0), command, LONG)
    assert command.effort.tolist() == [0.0] * N


def test_the_effort_limit_of_one_tick_does_not_stick() -> None:
    stage = _stage()
    stage.set_effort_limit(np.asarray(1.0, dtype=float))
    stage.apply(_state(0.0), _command(effort=5.0), LONG)
    stage.set_effort_limit(np.asarray(EFFORT, dtype=float))
    command = _command(effort=5.0)
    stage.apply(_state(0.0), command, LONG)
    assert command.effort.tolist() == [5.0] * N


def test_the_stiffness_that_acts_limits_the_target_not_the_commanded_one() -> None:
    stage = _stage()
    state, command = _state(0.0), _command(position=1.9, stiffness=1.0)
    stage.set_realized_stiffness(np.array([20.0] + [np.nan] * (len(state.position) - 1)))
    stage.apply(state, command, LONG)
    assert command.position[0] == pytest.approx(10.0 / 20.0)
    assert (command.position[1:] == 1.9).all()


def _reached(velocity: float, target: float, damping: float = 0.0) -> float:
    """Return the spring's torque [Nm] of a joint at 0 with a far target, in the second tick."""
    stage, state = _stage(), _state(0.0)
    state.velocity[:] = velocity
    command = _command(position=target, stiffness=10.0, damping=damping)
    for _ in range(2):  # a mode begins in the first one
        command.position[:] = target
        stage.apply(state, command, LONG)
    found: float = 10.0 * command.position[0]
    return found


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_spring_drives_a_fast_joint_the_less_the_faster_it_is(sign: float) -> None:
    target = sign * 0.9  # [rad] 9 of 10 Nm at rest
    assert _reached(0.0, target) == pytest.approx(sign * 9.0)
    assert _reached(sign * 0.5 * VELOCITY, target) == pytest.approx(sign * EFFORT * 2 / 3)
    assert _reached(sign * VELOCITY, target) == pytest.approx(sign * EFFORT / 3)
    assert _reached(sign * 1.5 * VELOCITY, target) == pytest.approx(0.0)
    assert _reached(sign * 9.0 * VELOCITY, target) == pytest.approx(0.0)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_spring_brakes_a_fast_joint_with_its_whole_torque(sign: float) -> None:
    assert _reached(-sign * 9.0 * VELOCITY, sign * 0.9) == pytest.approx(sign * 9.0)


def test_a_spring_may_always_hold_the_velocity_limit_against_the_damping() -> None:
    assert _reached(VELOCITY, 0.9, damping=2.0) == pytest.approx(2.0 * VELOCITY)
    assert _reached(3.0 * VELOCITY, 0.9, damping=0.5) == pytest.approx(0.5 * VELOCITY)


def test_a_target_may_be_too_far_for_the_speed_alone() -> None:
    stage, state = _stage(), _state(0.0)
    command = _command(position=0.9, stiffness=10.0)
    stage.apply(state, command, LONG)
    assert not stage.counts.any()
    state.velocity[:] = VELOCITY
    stage.apply(state, command, LONG)
    assert stage.counts[Limited.SPRING].all()
    assert command.position == pytest.approx(EFFORT / 3 / 10.0)


def test_a_drive_has_the_stiffness_that_it_holds_unless_none_is_commanded() -> None:
    stage = _stage()
    stage.set_realized_stiffness(np.array([20.0] + [np.nan] * (N - 1)))
    assert stage.acting_stiffness(_command(stiffness=5.0)).tolist() == [20.0] + [5.0] * (N - 1)
    assert stage.acting_stiffness(_command()).tolist() == [0.0] * N
