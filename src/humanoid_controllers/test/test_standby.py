"""STANDBY: no step, no jerk and no limp moment on the way to the ready pose."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_controller_manager.controller import CONTROLLER_CONTRACT
from humanoid_controllers.standby import StandbyController

CLEAR, READY = np.array([0.5, -0.5, 0.0]), np.array([0.2, -0.2, 0.4])
FIRST, SECOND = 0.3, 0.2  # [s], durations of the two segments
START = 100.0  # [s]: clocks don't begin at zero
SAGGED = np.array([-0.3, 0.35, 0.8])  # within reach of CLEAR in FIRST seconds at 3 rad/s


def _started(
    make: Any, at: Any, start: Any = SAGGED, damping: float = 6.0, **changes: Any
) -> StandbyController:
    controller: StandbyController = make(StandbyController, **changes)
    in_force = JointCommand(3)
    in_force.damping[:] = damping
    controller.on_activate(at(start), in_force, START)
    return controller


def _command(controller: StandbyController, at: Any, elapsed: float) -> JointCommand:
    command = JointCommand(3)
    command.array.fill(7.0)  # everything must be written
    controller.update(at(SAGGED), command, START + elapsed, 0.01)
    return command


def test_standby_begins_at_the_measured_pose_without_stiffness(make: Any, at: Any) -> None:
    command = _command(_started(make, at), at, 0.0)
    assert command.position == pytest.approx(SAGGED)
    assert command.stiffness.tolist() == [0.0] * 3
    assert command.damping == pytest.approx([6.0] * 3)
    assert command.effort.tolist() == [0.0] * 3


@pytest.mark.parametrize("fraction", [0.25, 0.5, 0.75])
def test_in_the_first_segment_pose_stiffness_and_damping_ramp_together(
    make: Any, at: Any, fraction: float
) -> None:
    """0.85 rad in 0.3 s: 17/18 of the velocity limit, ramps of 1/18, 18/17 of the mean speed."""
    command = _command(_started(make, at), at, fraction * FIRST)
    done = 18 / 17 * (fraction - 1 / 36)
    assert command.position == pytest.approx(SAGGED + done * (CLEAR - SAGGED))
    assert command.velocity == pytest.approx(18 / 17 * (CLEAR - SAGGED) / FIRST)
    assert command.stiffness == pytest.approx([20.0 * fraction] * 3)
    assert command.damping == pytest.approx([6.0 - 4.0 * fraction] * 3)


@pytest.mark.parametrize("fraction", [0.25, 0.5, 0.75])
def test_afterwards_the_gains_stay(make: Any, at: Any, fraction: float) -> None:
    command = _command(_started(make, at), at, FIRST + fraction * SECOND)
    done = 4 / 3 * (fraction - 1 / 8)  # ramps of a quarter of the time
    assert command.position == pytest.approx(CLEAR + done * (READY - CLEAR))
    assert command.stiffness == pytest.approx([20.0] * 3)
    assert command.damping == pytest.approx([2.0] * 3)


@pytest.mark.parametrize("late", [0.0, 1e-9, 1.0, 1e6])
def test_at_the_end_the_last_pose_is_held_without_motion(make: Any, at: Any, late: float) -> None:
    command = _command(_started(make, at), at, FIRST + SECOND + 1e-9 + late)
    assert command.position == pytest.approx(READY)
    assert command.velocity.tolist() == [0.0] * 3
    assert command.stiffness == pytest.approx([20.0] * 3)
    assert command.damping == pytest.approx([2.0] * 3)


@pytest.mark.parametrize("boundary", [FIRST, FIRST + SECOND])
def test_command_is_continuous_between_segments(make: Any, at: Any, boundary: float) -> None:
    controller = _started(make, at)
    before = _command(controller, at, boundary - 1e-9).array
    after = _command(controller, at, boundary + 1e-9).array
    assert np.abs(after - before).max() < 1e-6
    assert np.abs(after[1]).max() < 1e-6  # the joints rest at each pose


def test_the_velocity_is_the_derivative_of_the_position_and_has_no_step(make: Any, at: Any) -> None:
    controller, step = _started(make, at), 1e-4
    states = [_command(controller, at, i * step).array[:2].copy() for i in range(5001)]
    position, velocity = np.array(states).transpose(1, 0, 2)
    assert np.abs(np.diff(position, axis=0) / step - velocity[1:]).max() < 0.02
    acceleration = np.abs(np.diff(velocity, axis=0)) / step
    # 3/2 of the speed, here the limit of 3 rad/s, in the time of the ramp.
    assert acceleration.max() <= 1.5 * 3.0 / (FIRST / 18) * (1 + 1e-3)
    assert np.abs(velocity).max() <= 3.0 * (1 + 1e-9)


def test_a_way_at_the_velocity_limit_keeps_its_time(make: Any, at: Any) -> None:
    poses = {
        "clear": {"duration": 1.0, "positions": [0.5, -0.5, 0.0]},
        "ready": {"duration": 0.25, "positions": [0.5, -0.5, 0.75]},
    }
    controller = _started(make, at, poses=poses)
    assert _command(controller, at, 1.125).position[2] == pytest.approx(0.375)
    assert _command(controller, at, 1.25).position[2] == pytest.approx(0.75)
    assert not _command(controller, at, 1.3).velocity.any()


def test_a_sequence_of_one_pose_ends_with_the_full_stiffness(make: Any, at: Any) -> None:
    controller = _started(make, at, sequence=["ready"])
    assert _command(controller, at, SECOND).stiffness == pytest.approx([20.0] * 3)
    assert controller.progress.finished


def test_a_pose_may_be_visited_more_than_once(make: Any, at: Any) -> None:
    controller = _started(make, at, sequence=["clear", "ready", "clear"])
    assert _command(controller, at, 2 * FIRST + SECOND).position == pytest.approx(CLEAR)
    assert controller.progress.total_segments == 3


poses = st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3).map(np.array)
steps = st.lists(st.floats(0.0, 0.1), min_size=1, max_size=30)


@given(start=poses, damping=st.floats(0.5, 20.0), steps=steps)
def test_from_any_pose_no_step_is_larger_than_the_ramp_allows(
    make: Any, at: Any, start: Any, damping: float, steps: list[float]
) -> None:
    controller = _started(make, at, start, damping)
    mean = np.maximum(np.abs(CLEAR - start) / FIRST, np.abs(READY - CLEAR) / SECOND)  # [rad/s]
    fastest = 4 / 3 * mean
    elapsed, before = 0.0, _command(controller, at, 0.0).array
    assert before[0] == pytest.approx(start, abs=1e-12)
    for step in steps:
        elapsed += step
        after = _command(controller, at, elapsed).array
        assert np.all(np.abs(after[0] - before[0]) <= fastest * step + 1e-9)
        assert np.all(np.abs(after[1]) <= fastest + 1e-9)
        assert np.all(np.abs(after[3] - before[3]) <= 20.0 / FIRST * step + 1e-9)
        assert np.all(after[3] >= before[3])
        assert np.all(np.abs(after[4] - before[4]) <= abs(damping - 2.0) / FIRST * step + 1e-9)
        assert np.all(after[4] >= min(damping, 2.0) - 1e-9)
        assert np.all(after[2] == 0.0)
        before = after


@given(steps=steps)
def test_progress_never_goes_back_and_ends_at_one(make: Any, at: Any, steps: list[float]) -> None:
    controller = _started(make, at)
    assert controller.progress.fraction == 0.0
    elapsed, seen = 0.0, [controller.progress]
    for step in steps:
        elapsed += step
        _command(controller, at, elapsed)
        seen.append(controller.progress)
    fractions = [p.fraction for p in seen]
    segments = [p.current_segment for p in seen]
    assert fractions == sorted(fractions)
    assert segments == sorted(segments)
    assert set(segments) <= {0, 1}
    assert seen[-1].finished == (elapsed >= FIRST + SECOND)
    _command(controller, at, 10.0)
    assert (controller.progress.fraction, controller.progress.finished) == (1.0, True)


def test_a_second_activation_starts_all_over(make: Any, at: Any) -> None:
    controller = _started(make, at)
    _command(controller, at, 10.0)
    in_force = JointCommand(3)
    in_force.damping[:] = 6.0
    controller.on_activate(at(1.5), in_force, START + 50.0)
    assert controller.progress.fraction == 0.0
    assert _command(controller, at, 50.0).position == pytest.approx([1.5] * 3)
    assert _command(controller, at, 50.0).stiffness.tolist() == [0.0] * 3


def test_standby_has_a_progress(make: Any) -> None:
    assert "progress" in CONTROLLER_CONTRACT.taken_on(StandbyController, "standby")


def test_standby_keeps_copies_of_the_arrays_given_at_activation(make: Any, at: Any) -> None:
    controller = make(StandbyController)
    state, in_force = at(SAGGED), JointCommand(3)
    in_force.damping[:] = 6.0
    controller.on_activate(state, in_force, START)
    state.position[:] = 0.0
    in_force.array.fill(0.0)
    command = _command(controller, at, 0.0)
    assert command.position == pytest.approx(SAGGED)
    assert command.damping == pytest.approx([6.0] * 3)


def test_in_the_loop_a_robot_loads_from_damping_without_a_jump(robot: Any) -> None:
    robot.enter(Mode.DAMPING)
    assert robot.ask(Intent.LOAD).accepted
    first = len(robot.hardware.written)
    robot.tick(60)
    written = np.array(robot.hardware.written[first - 1 :])
    steps = np.abs(np.diff(written, axis=0))
    period = 0.01
    # From 0.1 to -0.5 rad in 0.3 s, in the middle with 4/3 of the mean speed.
    assert steps[:, 0].max() <= 1.01 * 4 / 3 * 0.6 / FIRST * period
    assert steps[:, 3].max() <= 20.0 / FIRST * period + 1e-9
    assert written[1, 3].max() == 0.0
    assert written[:, 4].min() >= 2.0 - 1e-9
    assert written[-1, 0] == pytest.approx(READY)


def test_an_unknown_pose_is_named_with_the_known_ones(make: Any) -> None:
    with pytest.raises(ConfigError, match="unknown pose 'home'; known: clear, ready"):
        make(StandbyController, sequence=["clear", "home"])


def test_a_pose_of_the_wrong_size_is_refused_with_both_sizes(make: Any) -> None:
    poses = {"ready": {"duration": 1.0, "positions": [0.0, 0.0]}}
    with pytest.raises(ConfigError) as caught:
        make(StandbyController, sequence=["ready"], poses=poses)
    for part in ("poses.ready.positions", "2 values", "3 joints", "shoulder, elbow, wrist"):
        assert part in str(caught.value)


@pytest.mark.parametrize("value", [2.5, -2.01, np.nan, np.inf])
def test_a_pose_outside_the_limits_is_refused_naming_joint_and_values(
    make: Any, value: float
) -> None:
    poses = {"ready": {"duration": 1.0, "positions": [0.0, value, 0.0]}}
    with pytest.raises(ConfigError) as caught:
        make(StandbyController, sequence=["ready"], poses=poses)
    message = str(caught.value)
    assert "poses.ready.positions" in message
    assert f"elbow {value:g} rad, allowed -2 to 2" in message
    assert "shoulder" not in message


def test_a_pose_on_the_limit_is_allowed(make: Any) -> None:
    poses = {"ready": {"duration": 1.0, "positions": [2.0, -2.0, 0.0]}}
    make(StandbyController, sequence=["ready"], poses=poses)


@pytest.mark.parametrize(
    "changes",
    [
        {"stiffness": 0.0},
        {"damping": -1.0},
        {"stiffness": np.nan},
        {"sequence": []},
        {"poses": {"clear": {"duration": 0.0, "positions": [0.0, 0.0, 0.0]}}},
        {"poses": {"clear": {"duration": np.inf, "positions": [0.0, 0.0, 0.0]}}},
        {"poses": {"clear": {"duration": 1.0, "positions": ["a"]}}},
        {"speed": 1.0},
    ],
)
def test_parameters_that_make_no_sense_are_refused(make: Any, changes: Any) -> None:
    with pytest.raises(ValidationError):
        make(StandbyController, **changes)


def test_from_far_away_the_first_way_takes_as_long_as_the_joints_need(make: Any, at: Any) -> None:
    far = np.array([-1.3, 1.3, 0.0])  # 1.8 rad at 0.95 of 3 rad/s: 0.63 s
    controller = _started(make, at, start=far)
    first = 1.8 / (0.95 * 3.0)  # instead of 0.3 s
    command = _command(controller, at, first / 2)
    assert command.position == pytest.approx((far + CLEAR) / 2)
    assert np.abs(command.velocity).max() == pytest.approx(3.0)
    assert _command(controller, at, first + SECOND + 1e-9).position == pytest.approx(READY)
    assert controller.progress.finished


def test_a_way_between_poses_faster_than_a_joint_is_refused(make: Any) -> None:
    poses = {
        "clear": {"duration": 1.0, "positions": [0.5, -0.5, 0.0]},
        "ready": {"duration": 0.2, "positions": [0.5, -0.5, 1.0]},
    }
    with pytest.raises(ConfigError, match=r"poses\.ready\.duration is 0\.2 s: faster from 'clear'"):
        make(StandbyController, poses=poses)


# Held back by the limit stage.

TICK = 0.01  # [s]


class Held:
    """A STANDBY whose targets make only the part `let` (0 to 1) of each step."""

    def __init__(self, make: Any, at: Any) -> None:
        self.controller = _started(make, at)
        self.target, self.elapsed = SAGGED.copy(), 0.0
        self.steps: list[float] = []  # [rad], the largest of each tick
        self._state = at(SAGGED)

    def run(self, seconds: float, let: float = 1.0) -> JointCommand:
        command = JointCommand(3)
        for _ in range(round(seconds / TICK)):
            self.elapsed += TICK
            self.controller.update(self._state, command, START + self.elapsed, TICK)
            target = self.target + let * (command.position - self.target)
            self.steps.append(float(np.abs(target - self.target).max()))
            self.target = target
            if let < 1.0:
                self.controller.on_held_back(target, "near")
        return command


def test_a_way_that_is_held_back_waits_and_goes_on_from_there(make: Any, at: Any) -> None:
    held = Held(make, at)
    held.run(0.15)
    there = held.target.copy()
    fraction = held.controller.progress.fraction
    held.run(2.0, let=0.0)
    assert held.target == pytest.approx(there)
    assert held.controller.progress.fraction == pytest.approx(fraction, abs=0.02)
    held.run(2.0)
    assert held.controller.progress.finished
    assert held.target == pytest.approx(READY)


def test_a_way_that_becomes_free_recovers_its_speed_without_a_hop(make: Any, at: Any) -> None:
    held = Held(make, at)
    held.run(0.15)
    fastest = max(held.steps)
    held.run(1.0, let=0.0)
    held.steps.clear()
    held.run(2.0)
    assert max(held.steps) <= fastest * 1.01
    # From nothing to its speed in half a second: in a tick by a fiftieth.
    assert np.diff([0.0, *held.steps[:10]]).max() < 0.03 * fastest


def test_arms_that_are_held_back_get_stiff_and_no_velocity_is_commanded(make: Any, at: Any) -> None:
    held = Held(make, at)
    held.run(0.15)
    command = held.run(FIRST, let=0.0)
    assert command.stiffness == pytest.approx([20.0] * 3)
    assert command.damping == pytest.approx([2.0] * 3)
    assert np.abs(command.velocity).max() < 0.1


def test_a_way_that_is_slowed_down_goes_on_as_slowly(make: Any, at: Any) -> None:
    held = Held(make, at)
    held.run(0.1)
    before = held.controller.progress.fraction
    held.run(0.1, let=0.25)
    done = held.controller.progress.fraction - before
    assert 0.0 < done < 0.4 * 0.1 / (FIRST + SECOND)


def test_a_pose_that_was_reached_is_not_left_when_links_are_near(make: Any, at: Any) -> None:
    held = Held(make, at)
    held.run(FIRST + SECOND + 0.05)
    command = held.run(0.5, let=0.0)
    assert held.controller.progress.finished
    assert command.position == pytest.approx(READY)
