"""The comparison of efforts with the law of the commands, against the law written for one motor."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_devices_can.effort_check import DELAY, INTERVAL, SCALE, WINDOW, EffortCheck
from humanoid_devices_can.reason_codes import COMMANDS_NOT_EXECUTED
from humanoid_devices_can.settings import Motor

RATE = 50.0  # [Hz]
DEPTH = 4  # commands of the last 60 ms, and the one before
LIMIT = np.array([9.0, 20.0])  # [Nm]
TOLERANCE = 0.05 * LIMIT
TRUSTED = np.zeros(2, dtype=np.bool_)
PERIOD = 1.0 / RATE

row = st.tuples(
    st.floats(-3.0, 3.0), st.floats(-4.0, 4.0), st.floats(-2.0, 2.0), st.floats(0.0, 100.0),
    st.floats(0.0, 10.0),
)  # fmt: skip


def new_check(rate: float = RATE) -> EffortCheck:
    return EffortCheck([Motor(f"j{i}", i + 1, "any", {}, "") for i in range(2)], LIMIT, rate)


def law(command: tuple[float, ...], position: float, velocity: float) -> float:
    wanted, speed, effort, stiffness, damping = command
    return stiffness * (wanted - position) + damping * (speed - velocity) + effort


def commanded(check: EffortCheck, *rows: tuple[float, ...]) -> None:
    command = JointCommand(2)
    for it in rows:
        command.array[:] = np.array(it)[:, np.newaxis]
        check.commanded(command)


def measured(position: float, velocity: float, effort: float) -> JointState:
    return JointState(2, np.array([[position] * 2, [velocity] * 2, [effort, 0.0]]))


def judged(check: EffortCheck, state: JointState, begun: float = 0.0) -> float:
    """Compare until the next judgement; return its time [s]."""
    now = begun
    while now - begun < WINDOW + 2 * PERIOD:
        now += PERIOD
        check.compare(state, TRUSTED, now)
    return now


@given(
    rows=st.lists(row, min_size=1, max_size=DEPTH),
    chosen=st.integers(0, DEPTH - 1),
    position=st.floats(-3.0, 3.0),
    velocity=st.floats(-4.0, 4.0),
    scale=st.floats(1.0 / SCALE, SCALE),
    noise=st.floats(-0.99, 0.99),
)
def test_effort_of_any_recent_command_is_right_on_any_scale(
    rows, chosen, position, velocity, scale, noise
) -> None:
    check = new_check()
    commanded(check, *rows)
    effort = law(rows[chosen % len(rows)], position, velocity)
    if abs(effort) > LIMIT[0]:  # the motor's own limit is between both
        effort = np.copysign(LIMIT[0], effort) * (1.0 if scale < 1.0 else SCALE)
        scale = 1.0
    state = measured(position, velocity, scale * effort + noise * TOLERANCE[0])
    judged(check, state)
    assert 0 not in check.problems


@given(
    rows=st.lists(row, min_size=1, max_size=DEPTH),
    position=st.floats(-3.0, 3.0),
    velocity=st.floats(-4.0, 4.0),
    beyond=st.floats(1.01, 10.0),
    above=st.booleans(),
)
def test_effort_beyond_those_of_all_recent_commands_is_wrong(
    rows, position, velocity, beyond, above
) -> None:
    check = new_check()
    commanded(check, *rows)
    laws = [law(it, position, velocity) for it in rows]
    high = max(*laws, -LIMIT[0]) if above else -min(*laws, LIMIT[0])
    extent = high * SCALE if high > 0.0 else high / SCALE
    effort = extent + beyond * TOLERANCE[0]
    state = measured(position, velocity, effort if above else -effort)
    judged(check, state)
    assert check.problems[0].codes == (COMMANDS_NOT_EXECUTED.name,)
    assert "j0 (id 1)" in check.problems[0].text
    assert check.largest[0] == pytest.approx(beyond * TOLERANCE[0])


@pytest.mark.parametrize(
    ("effort", "right"), [(1.6, True), (7.9, True), (1.4, False), (8.6, False)]
)
def test_half_and_twice_the_effort_is_right(effort: float, right: bool) -> None:
    check = new_check()
    commanded(check, (0.0, 0.0, 4.0, 0.0, 0.0))
    judged(check, measured(0.0, 0.0, effort))
    assert (0 not in check.problems) is right


def test_older_commands_do_not_count() -> None:
    check = new_check()
    commanded(check, (0.0, 0.0, 5.0, 0.0, 0.0), *[(0.0,) * 5] * DEPTH)
    judged(check, measured(0.0, 0.0, 5.0))
    assert 0 in check.problems


def test_nothing_is_judged_before_the_first_command() -> None:
    check = new_check()
    judged(check, measured(0.0, 0.0, 5.0))
    assert not check.problems
    assert not check.largest.any()


def test_an_effort_that_is_right_once_in_a_window_is_no_problem() -> None:
    check = new_check()
    commanded(check, (0.0,) * 5)
    wrong, right = measured(0.0, 0.0, 5.0), measured(0.0, 0.0, 0.0)
    for tick in range(500):
        state = right if tick % int(WINDOW * RATE) == 0 else wrong
        check.compare(state, TRUSTED, tick * PERIOD)
        assert not check.problems


def test_half_a_second_until_lost_gains_are_sent_again_is_no_problem() -> None:
    check = new_check()
    commanded(check, (0.0,) * 5)
    for tick in range(60):  # the window begins with the first comparison
        now = tick * PERIOD
        check.compare(measured(0.0, 0.0, 5.0 if now < 0.55 else 0.0), TRUSTED, now)
        assert not check.problems


def test_noise_is_no_problem_however_large_it_is() -> None:
    """A hundred windows with twenty times the tolerance: only an offset lasts for a whole one.

    In a window, 0.96^30 or 29 % of such noise is beyond the tolerance throughout, on both sides.
    """
    check = new_check()
    commanded(check, (0.0,) * 5)
    noise = np.random.default_rng(1).normal(0.0, 20.0 * TOLERANCE[0], int(60 * RATE))
    for tick, effort in enumerate(noise.tolist()):
        check.compare(measured(0.0, 0.0, effort), TRUSTED, tick * PERIOD)
        assert not check.problems


def test_a_doubtful_measurement_is_no_problem_and_ends_one() -> None:
    check = new_check()
    commanded(check, (0.0,) * 5)
    wrong = measured(0.0, 0.0, 5.0)
    now = judged(check, wrong)
    assert 0 in check.problems
    check.compare(wrong, np.array([True, False]), now + PERIOD)
    assert not check.problems


def test_a_problem_keeps_its_text_until_the_effort_is_right() -> None:
    check = new_check()
    commanded(check, (0.0,) * 5)
    now = judged(check, measured(0.0, 0.0, 5.0))
    first = check.problems[0]
    assert "effort of 5 Nm is 5 Nm away" in first.text
    for _ in range(2):
        now = judged(check, measured(0.0, 0.0, 6.0), now)
    assert check.problems[0] is first
    check.compare(measured(0.0, 0.0, 0.0), TRUSTED, now + PERIOD)
    assert not check.problems
    assert check.largest[0] == pytest.approx(6.0)


def test_an_unmeasured_effort_is_no_problem() -> None:
    check = new_check()
    commanded(check, (0.0,) * 5)
    judged(check, measured(np.nan, 0.0, np.nan))
    assert not check.problems


def test_comparisons_are_35_ms_apart_however_fast_the_loop_is() -> None:
    check = new_check(1000.0)
    right, wrong = measured(0.0, 0.0, 0.0), measured(0.0, 0.0, 5.0)
    step = INTERVAL / 35 + 1e-9
    for tick in range(2000):
        commanded(check, (0.0,) * 5)
        if check.is_due(now := tick * step):
            check.compare(right if tick % 35 else wrong, TRUSTED, now)
    assert 0 in check.problems


def test_one_comparison_is_no_judgement() -> None:
    check = new_check()
    commanded(check, (0.0,) * 5)
    check.compare(measured(0.0, 0.0, 5.0), TRUSTED, 1000.0)
    assert not check.problems


def test_usual_tolerance_is_five_percent_of_the_effort_limit() -> None:
    assert new_check().tolerance == pytest.approx(TOLERANCE)
    assert pytest.approx((DEPTH - 1) * PERIOD) == DELAY
