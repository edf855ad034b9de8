"""PID control: the integral and its clamp, the derivative and its kick, ticks without time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_servo_controllers.servo.pid import Pid, PidGains


def pid(
    p: float = 0.0,
    i: float = 0.0,
    d: float = 0.0,
    clamp: tuple[float, float] = (0.0, 0.0),
    *,
    antiwindup: bool = False,
    on_measurement: bool = False,
) -> Pid:
    gains = PidGains(*(np.array([value]) for value in (p, i, d, *clamp)))
    return Pid(gains, antiwindup=antiwindup, derivative_on_measurement=on_measurement)


def outputs(control: Pid, errors: list[float], period: float = 0.001) -> list[float]:
    return [float(control.step(np.array([e]), np.array([-e]), period)[0]) for e in errors]


@pytest.mark.parametrize(
    ("antiwindup", "expected"),
    [
        (False, [0.01, 1, 2, 2, 2, 2, 2, 2, 1, 0]),
        (True, [0.01, 1, 2, 2, 2, 1.99, 1, 0, -1, -2]),
    ],
)
def test_an_integral_beyond_its_clamp_comes_back_at_once_with_antiwindup(
    *, antiwindup: bool, expected: list[float]
) -> None:
    control = pid(i=10.0, clamp=(-2.0, 2.0), antiwindup=antiwindup)
    found = outputs(control, [1.0] * 400 + [-1.0] * 400)
    ticks = [1, 100, 200, 300, 400, 401, 500, 600, 700, 800]
    np.testing.assert_allclose([found[n - 1] for n in ticks], expected, atol=1e-6)


def test_a_step_of_the_error_kicks_through_the_derivative() -> None:
    found = outputs(pid(p=1.0, d=0.01), [0.0, 0.1, 0.1, 0.0])
    np.testing.assert_allclose(found, [0.0, 1.1, 0.1, -1.0], atol=1e-6)


def test_on_the_measurement_a_step_of_the_command_does_not_kick() -> None:
    control = pid(p=1.0, d=0.01, on_measurement=True)
    rest, moved = np.array([0.2]), np.array([0.201])
    assert control.step(np.array([0.0]), rest, 0.001)[0] == 0.0
    assert control.step(np.array([1.0]), rest, 0.001)[0] == 1.0
    assert control.step(np.array([1.0]), moved, 0.001)[0] == pytest.approx(1.0 - 0.01 * 1.0)


def test_ticks_without_time_and_without_a_number_give_nothing_and_change_nothing() -> None:
    control = pid(p=2.0, i=5.0, clamp=(-1.0, 1.0))
    found = outputs(control, [0.3])
    found += outputs(control, [0.3], period=0.0)
    found += outputs(control, [float("nan"), 0.3])
    np.testing.assert_allclose(found, [0.6015, 0.0, 0.0, 0.603], atol=1e-9)
    assert control.integral[0] == pytest.approx(0.0006)


def test_the_clamp_may_be_asymmetric() -> None:
    found = outputs(pid(i=5.0, clamp=(-0.2, 1.0)), [-1.0] * 3 + [1.0] * 6, period=0.1)
    np.testing.assert_allclose(found, [-0.2, -0.2, -0.2, -0.2, -0.2, 0, 0.5, 1, 1], atol=1e-6)


@pytest.mark.parametrize("antiwindup", [False, True])
@pytest.mark.parametrize("former", [0.0, 2.0, 200.0])
def test_a_new_gain_of_the_integral_gives_no_step(former: float, *, antiwindup: bool) -> None:
    def gains(i: float) -> PidGains:
        ones = np.ones(2)  # the second joint always has an integral
        return PidGains(0 * ones, np.array([i, 1.0]), 0 * ones, -50 * ones, 50 * ones)

    control = Pid(gains(former), antiwindup=antiwindup)
    for _ in range(100):
        before = control.step(np.ones(2), np.ones(2), 0.001).copy()
    control.set_gains(gains(20.0))
    after = control.step(np.ones(2), np.ones(2), 0.001)
    np.testing.assert_allclose(after - before, [20.0 * 0.001, 1.0 * 0.001])


@given(
    errors=st.lists(st.floats(-10, 10), min_size=1, max_size=50),
    i=st.floats(-50, 50),
    clamp=st.floats(0, 5),
    antiwindup=st.booleans(),
)
def test_the_integral_part_never_leaves_its_clamp(
    errors: list[float], i: float, clamp: float, *, antiwindup: bool
) -> None:
    found = outputs(pid(i=i, clamp=(-clamp, clamp), antiwindup=antiwindup), errors, period=0.1)
    assert np.abs(found).max() <= clamp
