"""Jogs: a motion that lasts while its request is repeated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from humanoid_controllers.trajectory.goal import Status
from humanoid_motion.errors import MotionRefusedError

REPEAT = 5  # ticks between two messages of a held key


def _hold_key(bench: Any, seconds: float, **speeds: float) -> Any:
    goal = None
    for _ in range(round(seconds / 0.05)):
        goal = bench.planner.jog(speeds, bench.now)
        bench.tick(REPEAT)
    return goal


def test_a_jog_moves_at_its_speed_while_the_key_is_held(bench: Any) -> None:
    goal = _hold_key(bench, 1.0, joint_1=-0.5)
    assert bench.command.velocity == pytest.approx([0.0, -0.5, 0.0])
    assert bench.status(goal) is Status.ACTIVE


def test_a_jog_ends_within_the_stated_time_after_the_key_is_released(bench: Any) -> None:
    """0.2 s until the silence is detected, and 0.5 rad/s / (0.9 * 5 rad/s²) to come to rest."""
    goal = _hold_key(bench, 1.0, joint_1=0.5)
    bench.run(0.2 - 0.05)
    assert bench.command.velocity[1] == pytest.approx(0.5)
    bench.run(0.5 / 4.5 + 0.03)
    assert bench.command.velocity[1] == 0.0
    assert bench.status(goal) is Status.CANCELED
    bench.refuse_steps()


def test_a_jog_stops_at_the_end_of_the_range(bench: Any) -> None:
    goal = _hold_key(bench, 3.0, joint_0=1.5)
    assert bench.command.position[0] == pytest.approx(2.0)
    assert bench.status(goal) is Status.SUCCEEDED
    bench.refuse_steps()


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_jog_outwards_leaves_a_joint_beyond_its_range_where_it_is(
    make_bench: Callable[..., Any], side: float
) -> None:
    bench = make_bench(position=2.04 * side)
    _hold_key(bench, 1.0, joint_0=0.5 * side)
    assert bench.command.position[0] == pytest.approx(2.04 * side, abs=1e-12)
    _hold_key(bench, 1.0, joint_0=-0.5 * side)
    assert abs(bench.command.position[0]) < 2.0
    bench.refuse_steps()


def test_jog_changes_speed_and_direction_without_a_step(bench: Any) -> None:
    _hold_key(bench, 0.5, joint_0=0.5)
    _hold_key(bench, 0.5, joint_0=1.0)
    assert bench.command.velocity[0] == pytest.approx(1.0)
    _hold_key(bench, 1.5, joint_0=-0.5)
    assert bench.command.velocity[0] == pytest.approx(-0.5)
    bench.refuse_steps()


def test_a_jog_whose_speed_changes_does_not_stop_between_two_messages(bench: Any) -> None:
    """The messages come every 0.15 s: within the stated 0.2 s."""
    _hold_key(bench, 0.5, joint_0=0.5)
    for speed in (0.5,) * 2 + (1.0,) * 5:
        bench.planner.jog({"joint_0": speed}, bench.now)
        bench.tick(15)
        assert bench.command.velocity[0] >= 0.5 - 1e-9
    assert bench.command.velocity[0] == pytest.approx(1.0)
    bench.refuse_steps()


def test_a_jog_with_another_speed_ends_as_soon_after_its_message_as_any(bench: Any) -> None:
    _hold_key(bench, 0.5, joint_0=0.5)
    goal = bench.planner.jog({"joint_0": 1.0}, bench.now)
    bench.run(0.2 + 1.0 / 4.5 + 0.03)
    assert bench.command.velocity[0] == 0.0
    assert bench.status(goal) is Status.CANCELED
    bench.refuse_steps()


def test_after_a_release_the_key_works_again(bench: Any) -> None:
    _hold_key(bench, 0.5, joint_0=0.5)
    bench.run(0.5)
    _hold_key(bench, 0.5, joint_0=0.5)
    assert bench.command.velocity[0] == pytest.approx(0.5)
    bench.refuse_steps()


def test_jog_of_another_joint_is_refused_until_the_first_joint_rests(bench: Any) -> None:
    _hold_key(bench, 0.5, joint_0=0.5)
    with pytest.raises(MotionRefusedError, match="joint_0: moves, and is not named"):
        bench.planner.jog({"joint_1": 0.5}, bench.now)


@pytest.mark.parametrize("speeds", [{}, {"joint_0": 0.0}, {"joint_0": float("inf")}, {"knee": 1}])
def test_a_wrong_jog_is_refused(bench: Any, speeds: Any) -> None:
    with pytest.raises(MotionRefusedError):
        bench.planner.jog(speeds, bench.now)
