"""Impossible measurements end a mode, and the message names the joint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.robot.joints import JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import JointState
from humanoid_controller_manager.safety.measurement_check import (
    ASSUMED_FRICTION,
    MeasurementCheck,
)

RATE, PERIOD = 100.0, 0.01
LIMIT = 4.5  # [rad/s], of joints that may go at 3
NAMES = ("a", "b", "c")


def _trip(limits: JointLimits) -> MeasurementCheck:
    friction = ASSUMED_FRICTION * limits.effort
    return MeasurementCheck(JointSet(NAMES), np.full(3, LIMIT), friction, RATE)


class Watched:
    """A check that receives positions and velocities of joint b."""

    def __init__(self, limits: JointLimits) -> None:
        self.trip = _trip(limits)
        self.state = JointState(3)

    def show(
        self, position: float, velocity: float = 0.0, period: float = PERIOD, age: float = 0.0
    ) -> str:
        self.state.array.fill(0.0)
        self.state.position[1], self.state.velocity[1] = position, velocity
        return self.trip.check(self.state, period, age).text


@pytest.fixture
def watched(limits_of: Callable[[int], JointLimits]) -> Watched:
    return Watched(limits_of(3))


def test_a_joint_at_its_velocity_limit_stays_plausible(watched: Watched) -> None:
    for i in range(300):
        assert watched.show(i * LIMIT * PERIOD, LIMIT) == ""
        assert watched.state.position[1] == i * LIMIT * PERIOD


def test_first_sample_above_the_velocity_limit_is_cut_and_the_second_is_accepted(
    watched: Watched,
) -> None:
    watched.show(0.0)
    assert watched.show(0.0, 9.0) == ""
    assert watched.state.velocity[1] == LIMIT
    assert watched.show(0.05, -9.0) == "b moves at -9 rad/s (velocity safety limit 4.5 rad/s)"
    assert watched.trip.found_new_problem
    assert watched.state.velocity[1] == -9.0
    assert watched.show(0.1, -9.0) != ""
    assert not watched.trip.found_new_problem


def test_a_sample_from_nowhere_is_replaced_by_the_last_good_one(watched: Watched) -> None:
    watched.show(0.2)
    assert watched.show(1.5) == ""
    assert watched.state.position[1] == 0.2
    assert watched.show(0.21) == ""
    assert watched.state.position[1] == 0.21


def first_report(watched: Watched, every: int) -> int | None:
    """Return the tick of the first report, if each sample number `every` is wrong."""
    for tick in range(400):
        text = watched.show(0.2 + (1.3 if tick % every == every - 1 else 0.0))
        assert watched.state.position[1] == 0.2
        if text:
            assert text.startswith("b is 1.3 rad from where it was")
            assert text.endswith("as in samples before: does its encoder fail?")
            assert watched.trip.found_new_problem
            return tick
    return None


@pytest.mark.parametrize(("every", "tick"), [(2, 29), (3, 86), (4, None), (5, None)])
def test_an_encoder_that_fails_again_and_again_is_reported_while_its_samples_are_replaced(
    watched: Watched, every: int, tick: int | None
) -> None:
    assert first_report(watched, every) == tick


def test_an_encoder_that_goes_on_failing_is_a_problem_but_no_new_one_until_it_is_good_for_long(
    watched: Watched,
) -> None:
    first_report(watched, 2)
    for _ in range(20):
        assert watched.show(0.2) == ""
        assert not watched.trip.found_new_problem
        if text := watched.show(1.5):
            assert text.endswith("does its encoder fail?")
            assert not watched.trip.found_new_problem
    for _ in range(40):
        assert watched.show(0.2) == ""
    assert first_report(watched, 2) == 29


def test_after_a_restart_the_earlier_samples_count_no_longer(watched: Watched) -> None:
    first_report(watched, 2)
    watched.trip.restart()
    assert first_report(watched, 2) == 29


def test_an_encoder_that_jumped_and_stays_there_is_reported_once(watched: Watched) -> None:
    watched.show(0.2)
    watched.show(1.5)
    text = watched.show(1.5)
    assert text == ("b is 1.3 rad from where it was 20 ms ago (velocity safety limit 4.5 rad/s)")
    assert watched.state.position[1] == 1.5
    assert {watched.show(1.5) for _ in range(50)} == {""}


def test_a_runaway_is_caught_in_its_second_tick_without_a_measured_velocity(
    watched: Watched,
) -> None:
    watched.show(0.0)
    texts = [watched.show(i * 0.12) for i in (1, 2)]  # 12 rad/s
    assert texts[0] == ""
    assert texts[1].startswith("b is 0.24 rad from where it was 20 ms ago")


def test_a_slow_runaway_without_a_measured_velocity_is_caught_in_a_fifth_of_a_second(
    watched: Watched,
) -> None:
    texts = [watched.show(i * 0.06) for i in range(24)]  # 6 rad/s
    found = [text for text in texts if text]
    assert found
    assert found[0].startswith("b moved 0.6")


def test_a_tick_that_comes_late_allows_a_longer_way(watched: Watched) -> None:
    watched.show(0.0)
    for i in range(1, 30):
        assert watched.show(0.4 * i, LIMIT, period=0.1) == ""


def test_samples_that_come_a_period_late_are_no_jump(watched: Watched) -> None:
    """A joint at 3 rad/s whose samples arrive in pairs."""
    for i in range(0, 200, 2):
        assert watched.show(i * 0.03) == ""
        assert watched.show(i * 0.03) == ""


def test_samples_from_before_a_hold_up_are_no_jump_but_a_jump_after_it_is_detected(
    watched: Watched,
) -> None:
    """A joint at 3 rad/s and a loop that is held up for 0.1 s: the bus has kept an old sample."""
    for i in range(20):
        watched.show(i * 0.03, 3.0)
    assert watched.show(0.60, 3.0, period=0.1) == ""
    for i in range(20):
        assert watched.show(0.90 + i * 0.03, 3.0) == ""
    texts = [watched.show(0.0), watched.show(0.0)]
    assert texts[1].startswith("b is -1.47 rad from where it was")


@pytest.mark.parametrize(("periods", "allowed"), [(2.0, False), (2.1, True), (3.0, True)])
def test_a_tick_later_than_two_periods_is_a_hold_up(
    watched: Watched, periods: float, allowed: bool
) -> None:
    watched.show(0.0)
    assert watched.show(0.0, period=periods * PERIOD) == ""
    way = LIMIT * PERIOD * (1 + periods) - 0.001  # in one period, by an old sample
    assert watched.show(way if allowed else LIMIT * PERIOD * 2 + 0.001) == ""
    assert bool(watched.state.position[1] != 0.0) is allowed


@pytest.mark.parametrize("later", range(1, 8))
def test_samples_may_be_old_in_the_three_ticks_after_a_hold_up(
    watched: Watched, later: int
) -> None:
    watched.show(0.0)
    assert watched.show(0.0, period=0.1) == ""
    for _ in range(later - 1):
        assert watched.show(0.0) == ""
    assert watched.show(0.3) == ""
    assert watched.state.position[1] == (0.3 if later <= 3 else 0.0)


def test_samples_after_those_that_a_bus_held_back_are_no_jump_but_a_jump_is_detected(
    watched: Watched,
) -> None:
    """A joint at 3 rad/s whose bus is silent for 0.1 s."""
    for i in range(20):
        watched.show(i * 0.03, 3.0)
    for i in range(1, 11):
        assert watched.show(0.57, 3.0, age=i * PERIOD) == ""
    for i in range(20):
        assert watched.show(0.90 + i * 0.03, 3.0) == ""
    texts = [watched.show(0.0), watched.show(0.0)]
    assert texts[1].startswith("b is -1.47 rad from where it was")


def test_a_bus_that_stays_silent_makes_no_jump_plausible(watched: Watched) -> None:
    watched.show(0.0, age=60.0)
    most = LIMIT * (PERIOD + 0.2)
    assert watched.show(0.99 * most, age=60.0) == ""
    assert watched.state.position[1] == 0.99 * most
    texts = [watched.show(-1.0, age=60.0) for _ in range(2)]
    assert texts[1].startswith("b is -1.9")


def is_believed_at_once(watched: Watched, position: float) -> bool:
    """Return True if the first sample at `position` is accepted."""
    watched.show(position)
    return bool(watched.state.position[1] == position)


@pytest.mark.parametrize(("held_up", "believed"), [(0.019, False), (0.021, True), (0.03, True)])
def test_a_tick_that_comes_more_than_a_period_late_makes_old_samples_plausible(
    watched: Watched, held_up: float, believed: bool
) -> None:
    watched.show(0.0)
    watched.show(0.0, period=held_up)
    assert is_believed_at_once(watched, 0.9 * LIMIT * (PERIOD + held_up)) is believed


@pytest.mark.parametrize(("ticks", "believed"), [(2, True), (3, False)])
def test_samples_may_be_as_old_as_a_hold_up_for_three_ticks_after_it(
    watched: Watched, ticks: int, believed: bool
) -> None:
    watched.show(0.0)
    watched.show(0.0, period=0.05)
    for _ in range(ticks):
        watched.show(0.0)
    assert is_believed_at_once(watched, 0.9 * LIMIT * 0.06) is believed


def test_joints_put_somewhere_else_have_not_moved(watched: Watched) -> None:
    watched.show(0.0)
    watched.trip.restart()
    for _ in range(30):
        assert watched.show(2.0) == ""


def _follow(
    trip: MeasurementCheck,
    targets: Any,
    position: Callable[[int], float],
    stiffness: float,
    age: float = 0.0,
) -> list[str]:
    texts = []
    state = JointState(3, np.zeros((3, 3)))
    for i, target in enumerate(targets):
        state.position[1] = position(i)
        arrays = np.array([0.0, target, 0.0]), np.full(3, stiffness)
        texts.append(trip.check_following(state, *arrays, PERIOD, age).text)
    return [text for text in texts if text]


STANDS_STILL: Callable[[int], float] = lambda i: 0.1  # noqa: E731
CREEPS: Callable[[int], float] = lambda i: 0.1 + 1e-5 * i  # noqa: E731
AWAY = np.linspace(0.1, 0.5, 60)  # 0.4 rad at 20 Nm/rad: 8 Nm, the limit is 10


def test_a_stiff_joint_that_does_not_follow_its_target_is_reported(limits_of: Any) -> None:
    texts = _follow(_trip(limits_of(3)), AWAY, STANDS_STILL, 20.0)
    assert texts[0].startswith("b does not follow: no motion is measured although its spring")


@pytest.mark.parametrize(
    ("targets", "position", "stiffness"),
    [
        pytest.param(AWAY, CREEPS, 20.0, id="it moves, if only a little"),
        pytest.param(AWAY, STANDS_STILL, 0.0, id="nothing pulls at it"),
        pytest.param(AWAY, STANDS_STILL, 5.0, id="the pull is weak: friction may hold it"),
        pytest.param([0.5] * 60, STANDS_STILL, 20.0, id="it hangs under a load, the target stays"),
    ],
)
def test_a_joint_with_a_reason_to_stand_still_is_left_alone(
    limits_of: Any, targets: Any, position: Callable[[int], float], stiffness: float
) -> None:
    assert _follow(_trip(limits_of(3)), targets, position, stiffness) == []


# 20 Nm/rad; a third of the effort limit is 3.33 Nm.
@pytest.mark.parametrize(("way", "trips"), [(0.16, False), (-0.16, False), (0.17, True)])
def test_a_third_of_the_effort_limit_is_a_hard_pull(
    limits_of: Any, way: float, trips: bool
) -> None:
    targets = [0.1] * 6 + [0.1 + way] * 6
    assert bool(_follow(_trip(limits_of(3)), targets, STANDS_STILL, 20.0)) is trips


# To and fro: friction that holds the joint against both pulls is half of their difference.
@pytest.mark.parametrize(("way", "trips"), [(0.08, False), (0.085, True)])
def test_a_pull_to_and_fro_counts_from_one_end_to_the_other(
    limits_of: Any, way: float, trips: bool
) -> None:
    targets = [0.1] * 6 + [0.1 + way] * 6 + [0.1 - way] * 6 + [0.1] * 6
    assert bool(_follow(_trip(limits_of(3)), targets, STANDS_STILL, 20.0)) is trips


@pytest.mark.parametrize(("change", "trips"), [(0.05, False), (0.055, True)])
def test_a_joint_of_known_friction_trips_at_three_times_its_friction(
    change: float, trips: bool
) -> None:
    friction = np.array([3.0, 0.35, 3.0])  # [Nm]; 20 Nm/rad change the pull by 1.0 and 1.1 Nm
    trip = MeasurementCheck(JointSet(NAMES), np.full(3, LIMIT), friction, RATE)
    targets = [0.1] * 6 + [0.1 + change] * 6
    assert bool(_follow(trip, targets, STANDS_STILL, 20.0)) is trips
    assert trip.standing_bound.tolist() == pytest.approx([9.0, 1.05, 9.0])


def test_the_largest_pull_without_a_motion_is_kept(limits_of: Any) -> None:
    trip = _trip(limits_of(3))
    targets = [0.1] * 6 + [0.2] * 6 + [0.1] * 6
    assert _follow(trip, targets, lambda tick: float(tick >= 12), 20.0) == []
    trip.restart()
    assert _follow(trip, [0.1] * 6, STANDS_STILL, 20.0) == []
    assert trip.standing_pull.tolist() == pytest.approx([0.0, 2.0, 0.0])


def test_a_motion_ends_the_range_of_the_targets(limits_of: Any) -> None:
    targets = [0.1] * 6 + [0.2] * 6 + [0.0] * 6
    assert _follow(_trip(limits_of(3)), targets, lambda tick: float(tick >= 12), 20.0) == []


def test_a_joint_without_a_new_measurement_may_follow_unseen(limits_of: Any) -> None:
    """A silent motor: its component reports it."""
    trip = _trip(limits_of(3))
    assert _follow(trip, AWAY, STANDS_STILL, 20.0, age=0.045) == []
    assert _follow(trip, AWAY, STANDS_STILL, 20.0, age=0.02) != []


@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize("rate", [50.0, 200.0, 1000.0])
def test_a_target_counts_once_it_has_acted_for_20_ms(
    limits_of: Any, rate: float, way: float
) -> None:
    """A joint held by friction begins to move; the measurement shows the motion later."""
    trip, period = _trip(limits_of(3)), 1.0 / rate
    state, stiffness = JointState(3, np.zeros((3, 3))), np.full(3, 20.0)
    acted = 0.0  # [s] time of the target off the joint when it is judged
    text = ""
    for tick in range(round(0.3 * rate)):
        away = tick * period >= 0.112
        target = np.array([0.0, way if away else 0.0, 0.0])
        acted += period if away else 0.0
        text = text or trip.check_following(state, target, stiffness, period).text
        if text:
            break
    assert "b does not follow" in text
    assert 0.0199 < acted < 0.0401


def test_stiffness_that_begins_far_from_the_last_target_is_no_pull(limits_of: Any) -> None:
    trip = _trip(limits_of(3))
    assert _follow(trip, [0.0] * 10, STANDS_STILL, 0.0) == []
    assert _follow(trip, [1.0] * 10, STANDS_STILL, 20.0) == []
    trip.begin_mode()
    assert _follow(trip, [0.0] * 10, STANDS_STILL, 20.0) == []


# In the loop.

ALL = ("limp", "standby", "remote", "torque")


def _runs_away(robot: Any, ticks: int = 2) -> Any:
    robot.arm.measured[1, 2] = 8.0
    return robot.tick(ticks)


@pytest.fixture
def supervised(rig: Any, limits_of: Any) -> Any:
    robot = rig()
    robot.loop.set_measurement_check(_trip(limits_of(3)))
    return robot.start("damped")


@pytest.mark.parametrize("name", ALL)
def test_a_runaway_ends_every_mode_in_damping_within_two_ticks(supervised: Any, name: str) -> None:
    supervised.run(name)
    snapshot = _runs_away(supervised)
    assert snapshot.controller == "damped"
    assert snapshot.fall.reason.text == "c moves at 8 rad/s (velocity safety limit 4.5 rad/s)"
    assert np.all(supervised.arm.written[-1][3] == 0.0)
    assert np.all(supervised.arm.written[-1][4] == 6.0)


def test_single_impossible_sample_ends_no_mode(supervised: Any) -> None:
    supervised.run("standby")
    _runs_away(supervised, 1)
    supervised.arm.measured[1, 2] = 0.0
    assert supervised.tick(50).controller == "standby"


def test_in_damping_a_runaway_is_counted_as_a_fall_and_nothing_is_switched(supervised: Any) -> None:
    before = supervised.tick().switch_number
    snapshot = _runs_away(supervised, 5)
    assert (snapshot.switch_number, snapshot.fall.number) == (before, 1)
    assert "c moves at 8 rad/s" in snapshot.fall.reason.text
    assert supervised.changes == 1


def test_a_stiff_mode_cannot_be_entered_while_a_joint_runs_away(supervised: Any) -> None:
    _runs_away(supervised, 5)
    stiff = len(supervised.arm.written)
    supervised.ask("standby")
    assert supervised.tick().controller == "damped"
    assert not any(written[3].any() for written in supervised.arm.written[stiff:])


def test_without_damping_a_runaway_ends_limp_and_falls_once(supervised: Any) -> None:
    supervised.run("standby")
    supervised.controllers["damped"].fail["update"] = RuntimeError("broken")
    snapshot = _runs_away(supervised, 30)
    assert (snapshot.controller, snapshot.fall.number) == ("limp", 1)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_joint_that_is_not_measured_ends_a_stiff_mode_in_the_same_tick(
    supervised: Any, value: float
) -> None:
    supervised.run("standby")
    supervised.arm.measured[0, 1] = value
    snapshot = supervised.tick()
    assert snapshot.controller == "damped"
    assert snapshot.fall.reason.text == "arm: no finite state of b"


def test_a_joint_that_does_not_follow_ends_a_stiff_mode(supervised: Any) -> None:
    supervised.run("torque")
    away = iter(np.linspace(0.5, 1.5, 100))

    def go(state: Any, command: Any, now: float, period: float) -> None:
        command.array[:] = [[next(away)] * 3, [0.0] * 3, [0.0] * 3, [20.0] * 3, [2.0] * 3]

    supervised.controllers["torque"].behave = go
    snapshot = supervised.tick(90)
    assert snapshot.controller == "damped"
    assert "does not follow" in snapshot.fall.reason.text


def test_a_simulator_may_put_its_joints_elsewhere(
    rig: Any, limits_of: Any, scripted_hardware: Any
) -> None:
    class Simulator(scripted_hardware):
        teleports = 0

    arm = Simulator()
    robot = rig({"arm": (arm, ("a", "b", "c"))})
    robot.loop.set_measurement_check(_trip(limits_of(3)))
    robot.start("damped").tick()
    arm.measured[0] = 1.5
    arm.teleports = 1
    assert robot.tick(30).fall is None
