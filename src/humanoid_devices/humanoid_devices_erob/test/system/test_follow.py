"""Targets follow the joints: none is left behind to which a joint could jump."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_erob.drive.target_following import TargetRule

LIMIT = 1000.0  # [counts/s]
PERIOD = 0.02
PER_RADIAN = 524288 / (2 * np.pi)
FREE, BOUND = np.array([True]), np.array([False])
STEP = 0.25 * LIMIT * PERIOD  # a quarter of the velocity limit


def update(rule: TargetRule, command: float, measured: float, follow: bool) -> float:
    target = rule.update(
        np.array([command]), np.array([measured]), np.array([follow]), FREE, PERIOD
    )
    return float(target[0])


def test_target_is_the_measurement_while_it_follows() -> None:
    rule = TargetRule(np.array([LIMIT]))
    for measured in (5.0, -300.0, 7000.0):
        assert update(rule, 1e6, measured, follow=True) == measured


def test_target_is_the_command_from_the_first_tick_if_it_starts_where_the_joint_is() -> None:
    rule = TargetRule(np.array([LIMIT]))
    update(rule, 0.0, 100.0, follow=True)
    assert update(rule, 100.0, 100.0, follow=False) == 100.0
    assert update(rule, 5000.0, 100.0, follow=False) == 5000.0  # from then on it is the command


def test_target_is_the_command_that_leaves_the_joint_at_its_velocity_limit() -> None:
    rule = TargetRule(np.array([LIMIT]))
    update(rule, 98.0, 98.0, follow=True)
    for tick in range(1, 4):
        command = 100.0 + tick * LIMIT * PERIOD
        assert update(rule, command, 100.0, follow=False) == command


def test_target_returns_slowly_to_a_command_that_was_at_the_joint_only_before() -> None:
    rule = TargetRule(np.array([LIMIT]))
    update(rule, 100.0, 100.0, follow=True)
    assert update(rule, 5000.0, 100.0, follow=False) == 100.0 + STEP
    assert update(rule, 5000.0, 4999.0, follow=False) == 100.0 + 2 * STEP


def creep(rule: TargetRule, command: float, measured: float) -> float:
    """Run a tick in which the target follows with a limited speed."""
    follow = np.array([True])
    target = rule.update(np.array([command]), np.array([measured]), follow, BOUND, PERIOD)
    return float(target[0])


def test_target_that_may_drive_its_joint_creeps_after_it() -> None:
    rule = TargetRule(np.array([LIMIT]))
    update(rule, 0.0, 0.0, follow=True)
    for tick in range(1, 4):  # a fiftieth of the velocity limit
        assert np.isclose(creep(rule, 1e6, -500.0), -0.02 * LIMIT * PERIOD * tick)
    assert creep(rule, 1e6, -1.3) == -1.3


def test_target_that_creeps_stays_a_radian_and_a_half_behind_at_most() -> None:
    rule = TargetRule(np.array([LIMIT]))
    update(rule, 0.0, 0.0, follow=True)
    assert np.isclose(creep(rule, 0.0, 3.0 * PER_RADIAN), 1.5 * PER_RADIAN)
    assert np.isclose(creep(rule, 0.0, -2.0 * PER_RADIAN), -0.5 * PER_RADIAN)


def test_target_is_left_behind_until_it_has_crept_to_the_joint() -> None:
    rule = TargetRule(np.array([1e6]))
    update(rule, 0.0, 0.0, follow=True)
    assert rule.left_behind(0) == 0.0
    creep(rule, 0.0, 0.5 * PER_RADIAN)  # by 400 counts in a tick
    assert rule.left_behind(0) == pytest.approx(0.5, abs=0.01)
    ticks = 0
    while rule.left_behind(0):
        target = creep(rule, 0.0, 0.5 * PER_RADIAN)
        ticks += 1
    assert 0.5 * PER_RADIAN - target < 0.01 * PER_RADIAN  # at most this far: 0.2 rad/s
    assert ticks < 0.5 * PER_RADIAN / 400 + 3


def test_target_that_is_free_again_is_left_behind_until_the_drive_has_it() -> None:
    rule = TargetRule(np.array([LIMIT]))
    update(rule, 0.0, 0.0, follow=True)
    creep(rule, 0.0, 0.5 * PER_RADIAN)
    left = []
    for _ in range(4):
        update(rule, 0.0, 0.5 * PER_RADIAN, follow=True)
        left.append(rule.left_behind(0) > 0.0)
    # Latched with the next SYNC0, and reached a period after.
    assert left == [True, True, False, False]


@pytest.mark.parametrize("follow", [True, False])
def test_target_that_crept_leaves_from_the_measurement_when_it_is_free(follow: bool) -> None:
    rule = TargetRule(np.array([LIMIT]))
    update(rule, 0.0, 0.0, follow=True)
    creep(rule, 0.0, 5000.0)
    assert update(rule, 0.0, 5000.0, follow) == 5000.0 - (0.0 if follow else STEP)


@given(
    st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-6e4, 6e4)), min_size=1, max_size=40),
    st.floats(0.0, 1.0),
)
def test_target_that_is_not_free_never_moves_faster_than_it_creeps(history, period) -> None:
    rule = TargetRule(np.array([LIMIT]))
    last = update(rule, 0.0, 0.0, follow=True)
    for command, measured in history:
        target = rule.update(
            np.array([command]), np.array([measured]), np.array([True]), BOUND, period
        )[0]
        assert abs(target - last) <= 0.02 * LIMIT * min(period, 0.05) + 1e-6
        last = target


def test_target_returns_to_a_command_far_away_at_limited_speed() -> None:
    rule = TargetRule(np.array([LIMIT]))
    update(rule, 0.0, 0.0, follow=True)
    targets = [update(rule, 5.5 * STEP, 0.0, follow=False) for _ in range(7)]
    assert targets == [*(n * STEP for n in range(1, 6)), 5.5 * STEP, 5.5 * STEP]


def test_arm_that_sagged_while_gains_were_unconfirmed_is_not_snatched_up() -> None:
    rule = TargetRule(np.array([LIMIT]))
    update(rule, 0.0, 0.0, follow=True)
    update(rule, 0.0, 0.0, follow=False)
    for sagged in (-100.0, -500.0, -600.0):
        assert update(rule, 0.0, sagged, follow=True) == sagged
    assert update(rule, 0.0, -600.0, follow=False) == -600.0 + STEP


@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.booleans()),
        min_size=1,
        max_size=40,
    )
)
def test_target_never_jumps_on_the_tick_it_stops_following(history) -> None:
    rule = TargetRule(np.array([LIMIT]))
    last = None
    for command, measured, follow in [(0.0, 0.0, True), *history]:
        target = update(rule, command, measured, follow)
        if last is not None and last[1] and not follow:
            begins = abs(target - measured) <= 1.01 * LIMIT * PERIOD
            assert begins or abs(target - last[0]) <= STEP * (1 + 1e-9) + 1e-9
        last = target, follow


def test_stalled_loop_does_not_make_one_long_step() -> None:
    rule = TargetRule(np.array([LIMIT]))
    rule.update(np.zeros(1), np.zeros(1), np.array([True]), FREE, PERIOD)
    target = rule.update(np.array([1e6]), np.zeros(1), np.array([False]), FREE, 60.0)
    assert target[0] <= 0.25 * LIMIT * 0.05


def test_target_rule_acts_on_each_joint_independently() -> None:
    rule = TargetRule(np.full(2, LIMIT))
    both = np.array([True, True])
    rule.update(np.zeros(2), np.zeros(2), both, both, PERIOD)
    one = np.array([True, False])
    target = rule.update(np.zeros(2), np.array([50.0, 50.0]), one, both, PERIOD)
    assert target.tolist() == [50.0, 0.0]
    target = rule.update(np.zeros(2), np.array([90.0, 90.0]), both, one, PERIOD)
    assert target.tolist() == [90.0, 0.02 * LIMIT * PERIOD]


def test_joint_that_returns_to_its_command_is_not_kept_by_another_that_creeps() -> None:
    rule = TargetRule(np.full(2, LIMIT))
    both = np.array([True, True])
    rule.update(np.zeros(2), np.zeros(2), both, both, PERIOD)
    command, measured = np.array([0.0, 10 * STEP]), np.array([50.0, -1000.0])
    first, second = np.array([True, False]), np.array([False, True])
    for tick in (1, 2):
        target = rule.update(command, measured, first, second, PERIOD)
        assert target.tolist() == [0.02 * LIMIT * PERIOD * tick, STEP * tick]
