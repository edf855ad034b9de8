"""The limit stage over several ticks and near the ends: steps, soft ends, sum of torques."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.robot.joints import JointLimits, SoftLimits
from humanoid_control_common.robot.mit_interface import JointCommand, JointState, mit_torque
from humanoid_controller_manager.safety.limit_stage import Limited, LimitStage

N = 2
ONES = np.ones(N)
VELOCITY, EFFORT = 3.0, 10.0
SOFT_LOWER, SOFT_UPPER = -0.9, 1.9
POSITION_GAIN, VELOCITY_GAIN = 10.0, 4.0
SOFT = SoftLimits(SOFT_LOWER * ONES, SOFT_UPPER * ONES, POSITION_GAIN * ONES, VELOCITY_GAIN * ONES)
LIMITS = JointLimits(-1.0 * ONES, 2.0 * ONES, VELOCITY * ONES, EFFORT * ONES, SOFT)
PERIOD = 0.01  # [s]
STEP = VELOCITY * PERIOD  # [rad]


def _state(position: Any = 0.0, velocity: Any = 0.0) -> JointState:
    return JointState(N, np.array([position * ONES, velocity * ONES, 0.0 * ONES]))


def _command(**rows: Any) -> JointCommand:
    command = JointCommand(N)
    for name, values in rows.items():
        getattr(command, name)[:] = values
    return command


class Joints:
    """A limit stage and a measured state, ticked."""

    def __init__(self, **measured: float) -> None:
        self.stage = LimitStage(LIMITS)
        self.state = _state(**measured)

    def tick(self, **command: Any) -> JointCommand:
        written = _command(**command)
        self.stage.apply(self.state, written, PERIOD)
        return written

    def counted(self, kind: Limited) -> int:
        return int(self.stage.counts[kind, 0])


def test_a_stiff_target_moves_no_faster_than_the_joint_may() -> None:
    joints = Joints()
    targets = [joints.tick(position=0.25, stiffness=1.0).position[0] for _ in range(12)]
    assert np.allclose(np.diff([0.0, *targets]), [STEP] * 8 + [0.25 - 8 * STEP, 0, 0, 0], atol=1e-3)
    assert joints.counted(Limited.STEP) == 8


def test_a_target_at_the_velocity_limit_is_no_step() -> None:
    joints = Joints()
    for i in range(50):
        joints.tick(position=i * STEP, stiffness=1.0)
    assert not joints.stage.counts.any()


def test_without_stiffness_a_target_may_be_anywhere_and_stiffness_begins_where_the_joint_is() -> (
    None
):
    joints = Joints(position=0.5)
    assert joints.tick(position=-0.5).position[0] == -0.5
    assert joints.tick(position=-0.5, stiffness=1.0).position[0] == pytest.approx(0.5 - STEP, 1e-3)


def test_a_mode_begins_where_the_joint_is_not_where_the_last_one_ended() -> None:
    joints = Joints(position=0.2)
    for _ in range(20):
        joints.tick(position=0.5, stiffness=1.0)
    joints.stage.restart()
    assert joints.tick(position=0.2, stiffness=1.0).position[0] == 0.2
    assert joints.tick(position=0.2 + STEP, stiffness=1.0).position[0] == pytest.approx(0.2 + STEP)


def test_steps_are_counted_apart_from_targets_out_of_range() -> None:
    joints = Joints(position=SOFT_UPPER)
    for _ in range(5):
        assert joints.tick(position=5.0, stiffness=1.0).position[0] == SOFT_UPPER
    assert joints.counted(Limited.POSITION) == 5
    assert joints.counted(Limited.STEP) == 0


def test_a_drive_with_gains_of_its_own_is_limited_in_its_steps_whatever_is_commanded() -> None:
    joints = Joints()
    joints.stage.set_realized_stiffness(np.array([20.0, np.nan]))
    written = joints.tick(position=0.4)
    assert written.position.tolist() == [pytest.approx(STEP, 2e-3), 0.4]


def test_the_target_stays_within_the_soft_range() -> None:
    joints = Joints(position=1.8)
    for _ in range(20):
        written = joints.tick(position=1.97, stiffness=1.0)
    assert written.position[0] == SOFT_UPPER


@pytest.mark.parametrize("found", [1.95, 2.3])
def test_a_joint_found_beyond_the_soft_range_keeps_its_place_or_moves_inward(found: float) -> None:
    joints = Joints(position=found)
    assert joints.tick(position=found + 0.1, stiffness=1.0).position[0] == found
    inward = joints.tick(position=found - 0.01, velocity=-1.0, effort=-5.0, stiffness=1.0)
    assert inward.array[:3, 0].tolist() == [pytest.approx(found - 0.01), -1.0, -5.0]
    outward = joints.tick(position=found, velocity=1.0, effort=5.0, stiffness=1.0)
    assert outward.array[:3, 0].tolist() == [pytest.approx(found), 0.0, 0.0]


@pytest.mark.parametrize(("end", "sign"), [(SOFT_UPPER, 1.0), (SOFT_LOWER, -1.0)])
def test_towards_an_end_speed_and_effort_fade_out(end: float, sign: float) -> None:
    def asked(distance: float, velocity: float = 0.0) -> list[float]:
        joints = Joints(position=end - sign * distance, velocity=sign * velocity)
        written = joints.tick(velocity=sign * VELOCITY, effort=sign * EFFORT)
        return [sign * written.velocity[0], sign * written.effort[0]]

    assert asked(1.0) == [VELOCITY, EFFORT]
    assert asked(0.1) == pytest.approx([1.0, VELOCITY_GAIN * 1.0])
    assert asked(0.1, velocity=0.5) == pytest.approx([1.0, VELOCITY_GAIN * 0.5])
    assert asked(0.0) == pytest.approx([0.0, 0.0], abs=1e-9)


def test_without_soft_limits_the_range_is_the_joints_own() -> None:
    hard = JointLimits(LIMITS.lower, LIMITS.upper, LIMITS.velocity, LIMITS.effort)
    stage, command = LimitStage(hard), _command(position=1.99, velocity=3.0, effort=10.0)
    stage.apply(_state(1.99), command, PERIOD)
    assert command.array[:3, 0].tolist() == [1.99, 3.0, 10.0]


def _rows(elements: st.SearchStrategy[float]) -> st.SearchStrategy[list[float]]:
    return st.lists(elements, min_size=N, max_size=N)


ANY = st.one_of(st.just(0.0), st.floats(-50.0, 50.0))
GAIN = st.one_of(st.just(0.0), st.floats(0.0, 500.0))
commands = st.builds(
    _command,
    **dict.fromkeys(("position", "velocity", "effort"), _rows(ANY)),
    **dict.fromkeys(("stiffness", "damping"), _rows(GAIN)),
)
states = st.builds(_state, _rows(st.floats(-3.0, 3.0)), _rows(st.floats(-20.0, 20.0)))


@given(commands, states)
def test_no_joint_is_driven_beyond_its_effort_limit_and_braking_is_never_weakened(
    command: JointCommand, state: JointState
) -> None:
    written = command.copy()
    LimitStage(LIMITS).apply(state, written, 1e3)
    braking = -command.damping * state.velocity
    torque = mit_torque(written, state)
    assert np.array_equal(written.array[3:], command.array[3:])
    assert np.all(torque <= np.maximum(EFFORT, braking) + 1e-6)
    assert np.all(torque >= np.minimum(-EFFORT, braking) - 1e-6)


def test_sum_of_torques_is_reduced_to_the_limit_and_not_below() -> None:
    joints = Joints()
    written = joints.tick(
        position=0.01, velocity=1.0, effort=8.0, stiffness=100.0, damping=[3.0, 0.5]
    )
    assert mit_torque(written, joints.state).tolist() == pytest.approx([EFFORT, 9.5])
    assert joints.stage.counts[Limited.TORQUE].tolist() == [1, 0]


def test_braking_above_the_effort_limit_is_not_reduced() -> None:
    joints = Joints(velocity=5.0)
    written = joints.tick(damping=6.0)
    assert written.array[:, 0].tolist() == [0.0, 0.0, 0.0, 0.0, 6.0]
    assert not joints.stage.counts.any()


def test_braking_takes_the_effort_limit_before_any_other_torque() -> None:
    """Braking uses the whole limit: no torque may drive the joint further, or back."""
    joints = Joints(velocity=-2.0)
    written = joints.tick(effort=5.0, damping=6.0)
    assert written.effort[0] == 0.0
    assert written.damping[0] == 6.0


# Each of the two is within the effort limit of 10 Nm, their sum is not.
@pytest.mark.parametrize(("spring", "effort"), [(6.0, 5.0), (-6.0, -5.0), (9.0, 2.0)])
def test_torques_of_stiffness_and_effort_are_limited_as_a_sum(spring: float, effort: float) -> None:
    joints = Joints()
    stiffness = 10.0 * STEP**-1  # one step of the target pulls with 10 Nm
    joints.tick(stiffness=stiffness)  # a mode begins
    away = spring / stiffness
    written = joints.tick(position=away, stiffness=stiffness, effort=effort)
    drive = stiffness * written.position[0] + written.effort[0]
    assert abs(drive) == pytest.approx(EFFORT)
    assert joints.counted(Limited.TORQUE) == 1


ALONE = {  # without soft ends: state, command, value beyond its bound, and limited value
    "position": ((1.99, 0.0), {"position": 2.005, "stiffness": 1.0}, Limited.POSITION, 2.0),
    "velocity": ((0.0, 0.0), {"velocity": 3.5, "damping": 0.1}, Limited.VELOCITY, VELOCITY),
    "effort": (
        (0.0, 0.0), {"position": -0.025, "stiffness": 200.0, "effort": 11.0}, Limited.EFFORT, EFFORT
    ),
    "spring": (
        (0.0, -1.0),
        {"position": 0.025, "velocity": -3.0, "stiffness": 440.0, "damping": 1.0},
        Limited.SPRING,
        EFFORT / 440.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ALONE)
def test_quantity_beyond_its_bound_is_limited_and_no_other_is(case: str) -> None:
    (position, velocity), command, kind, left = ALONE[case]
    stage, state = LimitStage(replace(LIMITS, soft=None)), _state(position, velocity)
    gains = {name: command.get(name, 0.0) for name in ("stiffness", "damping")}
    stage.apply(state, _command(position=position, **gains), PERIOD)  # a mode begins
    written = _command(**command)
    stage.apply(state, written, PERIOD)
    row = "position" if kind is Limited.SPRING else case
    assert getattr(written, row) == pytest.approx([left, left])
    assert np.flatnonzero(stage.counts.any(axis=1)).tolist() == [kind]


def test_gains_above_the_joints_largest_are_cut_and_counted() -> None:
    largest = np.array([[50.0, np.inf], [4.0, np.inf]])
    stage = LimitStage(replace(LIMITS, gains=largest))
    for stiffness, damping in ((50.0, 4.0), (5000.0, 1.0), (10.0, 200.0)):
        written = _command(stiffness=stiffness, damping=damping)
        stage.apply(_state(), written, PERIOD)
        assert written.stiffness.tolist() == [min(stiffness, 50.0), stiffness]
        assert written.damping.tolist() == [min(damping, 4.0), damping]
    assert stage.counts[Limited.GAINS].tolist() == [2, 0]


def test_pull_of_a_target_is_computed_with_the_limited_gains() -> None:
    stage = LimitStage(replace(LIMITS, gains=np.array([[50.0, 50.0], [4.0, 4.0]])))
    written = _command(position=0.02, stiffness=5000.0)
    stage.apply(_state(), written, PERIOD)
    assert written.position.tolist() == [0.02] * N
