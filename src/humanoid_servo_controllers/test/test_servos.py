"""The four servo laws, tick by tick."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.robot.mit_interface import JointState
from humanoid_servo_controllers.servo.deadband import Deadband
from humanoid_servo_controllers.servo.pid import Pid, PidGains
from humanoid_servo_controllers.servo.servo_law import VelocityCurve
from src.humanoid_servo_controllers.test import servos
from src.humanoid_servo_controllers.test.servos import average, output, pid, sign, tick


@pytest.mark.parametrize(
    ("command", "q", "v", "factor", "expected"),
    [
        (0, 0.25, 0, 1, 0),
        (2, 0.25, 0, 1, 50),
        (-2, 0.25, 0, 1, -40),
        (5, 0.25, 0, 1, 125),
        (50, 0.25, 0, 1, 170),
        (-50, 0.25, 0, 1, -145),
        (150, 0.25, 0, 1, 200),
        (500, 0.25, 0, 1, 200),
        (-500, 0.25, 0, 1, -200),
        (500, 0.25, 0, 0.5, 100),
        (500, 0.25, 0, 0, 0),
        (50, 0.25, 0.06, 1, 94.14553),
        (50, 0.25, -0.06, 1, 94.14553),
        (50, 1.7, 0, 1, 200),
    ],
)
def test_an_effort_gets_friction_and_never_exceeds_its_limit(
    command: float, q: float, v: float, factor: float, expected: float
) -> None:
    servo = servos.effort_servo(friction=True, factor=factor)
    assert tick(servo, command, q, v) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(
    ("command", "q", "v", "friction", "largest", "factor", "expected"),
    [
        (1, 0, 0, False, 1023, 1, 200),
        (-1, 0, 0, False, 1023, 1, -200),
        (1, 0, 0.5, False, 1023, 1, 100),
        (1, 0.25, 0, True, 1023, 1, 320),
        (-1, 0.25, 0, True, 1023, 1, -295),
        (0.01, 0.25, 0, True, 1023, 1, 50),
        (2, 0.25, 0, True, 250, 1, 250),
        (2, 0.25, 0, True, 250, 0.4, 100),
        (1, 0.25, 0.3, True, 1023, 1, 140.3633),
    ],
)
def test_a_velocity_error_becomes_an_effort(
    command: float,
    q: float,
    v: float,
    friction: bool,
    largest: float,
    factor: float,
    expected: float,
) -> None:
    stage = output(largest, friction=friction, factor=factor)
    servo = servos.velocity_servo(pid(200.0), sign(), stage)
    assert tick(servo, command, q, v) == pytest.approx(expected, abs=1e-4)


def test_velocities_one_after_another() -> None:
    servo = servos.velocity_servo(pid(10, 100, clamp=20), average(0.05), output())
    measured = [0, 0.2, 0.4, 0.5, 0.5, 0.5, 0.52, 0.5, 0.5, 0.5]
    found = [tick(servo, 0.5, 0.0, v, 0.01) for v in measured]
    expected = [5.5, 3.8, 1.9, 0.9, 0.9, 0.9, 0.68, 0.88, 0.88, 0.88]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert tick(servo, 0.02, 0.0, 0.3, 0.01) == pytest.approx(-2.2)
    part = float(servo.pid.integral_part[0]) if servo.pid else 0.0
    later = [tick(servo, 0.02, 0.0, v, 0.01) for v in (0.1, 0.02, 0.02, 0.02)]
    assert servo.holds[0]
    assert later[-1] == pytest.approx(part - 0.08), "only the integral part acts"


@pytest.mark.parametrize("deadband", [sign, average])
@pytest.mark.parametrize("damping", [0.0, 0.5, 2.0])  # [Nm s/rad] of the joint
def test_a_loaded_joint_at_velocity_0_stays(
    deadband: Callable[[], Deadband], damping: float
) -> None:
    """It sinks until its effort is that of the load, 2 Nm, and no farther."""
    servo = servos.velocity_servo(pid(2.0, 20.0, clamp=10.0), deadband(), output())
    noise = np.random.default_rng(1).normal(0.0, 0.003, 10_000)  # [rad/s]
    q, v, way = 0.0, 0.0, []
    for it in noise:
        v += 0.001 * (tick(servo, 0.0, q, v + it) - 2.0 - damping * v) / 0.05  # [kg m2]
        q += 0.001 * v
        way.append(q)
    assert servo.holds[0]
    assert min(way) == pytest.approx(-0.15, abs=0.05)  # [rad]
    assert np.ptp(way[5000:]) < 0.005


@pytest.mark.parametrize(
    ("command", "q", "v", "friction", "largest", "factor", "expected"),
    [
        (0.5, 0, 0, False, 1023, 1, 250),
        (0.5, 0.49, 0, False, 1023, 1, 5),
        (1.5708, 0.5, 0, False, 1023, 1, 535.4),
        (0, 0.5, 0, False, 1023, 1, -250),
        (0.5, 0.25, 0, True, 1023, 1, 245),
        (0.5, 0.25, 0.06, True, 1023, 1, 169.1455),
        (0.25, 0.5, 0, True, 1023, 1, -235),
        (1.5, 0.1, 0, True, 300, 1, 300),
        (1.5, 0.1, 0, True, 300, 0.5, 150),
        (0.5, 0.496, 0, True, 1023, 1, 57.872),
    ],
)
def test_a_position_error_becomes_an_effort(
    command: float,
    q: float,
    v: float,
    friction: bool,
    largest: float,
    factor: float,
    expected: float,
) -> None:
    stage = output(largest, friction=friction, factor=factor)
    servo = servos.position_servo(pid(500.0), sign(), stage)
    assert tick(servo, command, q, v) == pytest.approx(expected, abs=1e-4)


def test_positions_one_after_another() -> None:
    servo = servos.position_servo(pid(100, 50, clamp=5), average(), output())
    measured = [0, 0.2, 0.4, 0.45, 0.48, 0.49, 0.495, 0.5, 0.505, 0.51, 0.5]
    found = [tick(servo, 0.5, q, 0.0, 0.01) for q in measured]
    expected = [50.25, 30.4, 10.45, 5.475, 2.485, 1.49, 0.9925, 0.4925, -0.01, -0.515, 0.485]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_derivative_of_the_error_kicks_when_the_joint_begins_to_hold() -> None:
    servo = servos.position_servo(pid(100, d=1), average(), output())
    found = [tick(servo, 0.5, q, 0.0, 0.01) for q in (0.49, 0.49, 0.492)]
    np.testing.assert_allclose(found, [2.0, -1.0, 0.0], atol=1e-6)


@pytest.mark.parametrize(
    ("slope", "low", "high", "rows"),
    [
        (
            10,
            -1,
            1,
            "0:0 .01:.1 .05:.5 .0999:.999 .1:1 .15:1 1:1 -.02:-.2 -.1:-1 -.5:-1",
        ),
        (4, -0.5, 1.5, ".05:.2 .15:.6 1:1.5 -.1:-.4 -.5:-.5"),
    ],
)
def test_the_velocity_falls_with_the_distance(
    slope: float, low: float, high: float, rows: str
) -> None:
    curve = VelocityCurve(servos.one(slope), servos.one(low), servos.one(high))
    for row in rows.split():
        error, expected = map(float, row.split(":"))
        assert curve.velocity(servos.one(error))[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("command", "q", "v", "friction", "largest", "threshold", "expected"),
    [
        (0.5, 0, 0, False, 1023, 0, 100),
        (0.5, 0.45, 0, False, 1023, 0, 50),
        (0.5, 0.45, 0.5, False, 1023, 0, 0),
        (0.5, 0.45, 0.8, False, 1023, 0, -30),
        (0.0001, 0.5, 0, False, 1023, 0, -100),
        (1.5708, 1.5, 0, False, 1023, 0, 70.8),
        (0.5, 0.25, 0, True, 1023, 0, 220),
        (0.25, 0.5, 0, True, 1023, 0, -210),
        (0.5, 0.25, 0, True, 60, 0, 60),
        (0.5, 0.499, 0, False, 1023, 5, 0),
        (0.5, 0.25, 1.2, True, 1023, 0, -20),
    ],
)
def test_a_position_error_becomes_a_velocity_and_then_an_effort(
    command: float,
    q: float,
    v: float,
    friction: bool,
    largest: float,
    threshold: float,
    expected: float,
) -> None:
    stage = output(largest, friction=friction, threshold=threshold)
    servo = servos.mixed_servo(pid(100.0), sign(), stage)
    assert tick(servo, command, q, v) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize(("holds_measured", "expected"), [(False, 0.65), (True, 33.0)])
def test_a_mixed_joint_that_holds_keeps_its_effort_until_it_leaves_the_outer_band(
    *, holds_measured: bool, expected: float
) -> None:
    control = pid(100, 50, clamp=8)
    servo = servos.mixed_servo(control, average(), output(), holds_measured=holds_measured)
    assert tick(servo, 0.5, 0.499, 0.01, 0.01) == pytest.approx(0.0)  # a new command drives
    control.integral[:] = 0.65 / 50
    for q, measured in ((0.4995, 33.0), (0.5, 21.0), (0.47, 9.0)):
        assert tick(servo, 0.5, q, 0.3, 0.01, effort=measured) == pytest.approx(expected)
        assert servo.holds[0]
    for _ in range(60):
        last = tick(servo, 0.5, 0.3, 0.0, 0.01, effort=9.0)
    assert not servo.holds[0]
    assert last > 50.0


@pytest.mark.parametrize("on_measurement", [False, True])
def test_a_mixed_joint_does_not_hold_the_kick_of_its_derivative(*, on_measurement: bool) -> None:
    """Its velocity is measured 0.1 rad/s less in the tick in which it arrives."""
    gains = PidGains(*(servos.one(value) for value in (100.0, 50.0, 1.0, -8.0, 8.0)))
    control = Pid(gains, antiwindup=True, derivative_on_measurement=on_measurement)
    servo = servos.mixed_servo(control, sign(), output())
    for q, v in ((0.49, 0.2), (0.495, 0.2), (0.501, 0.1)):
        effort = tick(servo, 0.5, q, v, 0.01)
    assert servo.holds[0]
    assert effort == pytest.approx(50.0 * control.integral[0])
    assert tick(servo, 0.5, 0.501, 0.0, 0.01) == pytest.approx(effort)


def test_a_mixed_joint_that_holds_gets_no_friction() -> None:
    servo = servos.mixed_servo(pid(100, 500, clamp=8), sign(), output(friction=True))
    for q in (0.25, 0.49, 0.501, 0.501):
        effort = tick(servo, 0.5, q, 0.0, 0.01)
    assert servo.holds[0]
    assert servo.output.friction_part[0] == 0.0
    assert 1.0 < effort <= 8.0  # the integral part at the begin of the hold


def test_an_effort_up_to_the_threshold_is_not_sent() -> None:
    for sent, expected in ((5.0, 0.0), (-5.0, 0.0), (5.25, 5.25)):
        assert tick(servos.effort_servo(threshold=5.0), sent, 0.0, 0.0) == expected


@pytest.mark.parametrize("kind", ["effort", "velocity", "position", "mixed"])
def test_a_servo_that_starts_at_rest_demands_nothing(kind: str) -> None:
    make = {
        "effort": lambda: servos.effort_servo(friction=True),
        "velocity": lambda: servos.velocity_servo(pid(9, 9, 9, 9), sign(), output(friction=True)),
        "position": lambda: servos.position_servo(pid(9, 9, 9, 9), sign(), output(friction=True)),
        "mixed": lambda: servos.mixed_servo(pid(9, 9, 9, 9), sign(), output(friction=True)),
    }[kind]
    servo = make()
    state = JointState(1)
    state.array[:] = [[0.7], [0.0], [0.0]]
    command = servo.start(state)
    for _ in range(5):
        assert servo.step(command, state, 0.001)[0] == 0.0


@given(
    ticks=st.lists(
        st.tuples(st.floats(-3, 3), st.floats(-3, 3), st.floats(-8, 8)), min_size=1, max_size=40
    ),
    factor=st.floats(0, 1),
    kind=st.sampled_from(["velocity", "position", "mixed", "effort"]),
    seed_mode=st.booleans(),
)
def test_no_effort_exceeds_the_largest_one_times_its_factor(
    ticks: list[tuple[float, float, float]], factor: float, kind: str, *, seed_mode: bool
) -> None:
    stage = output(150.0, friction=True, factor=factor)
    deadband = sign() if seed_mode else average()
    control = pid(100, 50, 2, clamp=400)
    servo = {
        "velocity": lambda: servos.velocity_servo(control, deadband, stage),
        "position": lambda: servos.position_servo(control, deadband, stage),
        "mixed": lambda: servos.mixed_servo(control, deadband, stage),
        "effort": lambda: servos.effort_servo(friction=True, factor=factor),
    }[kind]()
    largest = (200.0 if kind == "effort" else 150.0) * factor
    for command, q, v in ticks:
        assert abs(tick(servo, 100 * command if kind == "effort" else command, q, v)) <= largest
