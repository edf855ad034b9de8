"""The servo controllers as plug-ins: parameters, commands and reports."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.errors import ConfigError, ControllerError
from humanoid_control_common.robot.joints import JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.controller import RobotFacts
from humanoid_servo_controllers.controllers import (
    REPORTED,
    EffortController,
    MixedPositionVelocityController,
    PositionController,
    ServoController,
    VelocityController,
)
from humanoid_servo_controllers.friction_file import FrictionMaps, save_friction_maps
from humanoid_servo_controllers.parameters import Curve, Gains
from humanoid_servo_controllers.servo.friction_map import FrictionMap
from src.humanoid_servo_controllers.test.servos import curve

NAMES = ("knuckle", "tip")
RATE = 1000.0
PERIOD = 1.0 / RATE
ALL = [EffortController, VelocityController, PositionController, MixedPositionVelocityController]
GAINS = {"gains": {"p": 100.0, "i": 50.0, "i_clamp": 8.0}}
SMALL = FrictionMap(curve((0, 1), (1, 1)), curve((0, -1), (1, -1)))


class Bench:
    """A controller of two joints: ±1 rad, 2 rad/s, 5 Nm."""

    def __init__(self, kind: type[ServoController], **parameters: object) -> None:
        limit = np.ones(2)
        limits = JointLimits(-limit, limit, 2 * limit, 5 * limit)
        given = parameters if kind is EffortController else {**GAINS, **parameters}
        self.controller = kind()
        self.controller.on_configure(
            kind.Parameters.model_validate(given), RobotFacts(JointSet(NAMES), limits, RATE)
        )
        self.state, self.command, self.now = JointState(2), JointCommand(2), 10.0
        self.state.array.fill(0.0)
        self.state.position[:] = [0.3, -0.2]
        self.controller.on_activate(self.state, JointCommand(2), self.now)

    def send(self, *values: float) -> None:
        self.controller.receive(np.array(values), self.now)

    def tick(self, count: int = 1) -> np.ndarray:
        for _ in range(count):
            self.now += PERIOD
            self.controller.update(self.state, self.command, self.now, PERIOD)
        return self.command.effort.copy()


@pytest.fixture(params=ALL, ids=lambda kind: kind.__name__)
def bench(request: pytest.FixtureRequest) -> Bench:
    return Bench(request.param)


def test_joints_stay_as_they_are_until_the_first_command(bench: Bench) -> None:
    for _ in range(20):
        assert not bench.tick().any()


def test_a_joint_that_sinks_before_the_first_command_is_resisted_where_there_is_a_pid_loop(
    bench: Bench,
) -> None:
    bench.tick()
    bench.state.position[:] -= 0.2
    bench.state.velocity[:] = -0.5
    resisted = bool((bench.tick(20) > 0.0).all())
    assert resisted is (bench.controller.gains_in_force is not None)


def test_effort_controller_commands_effort_only(bench: Bench) -> None:
    bench.send(0.9, 0.9)
    assert bench.tick().any()
    np.testing.assert_array_equal(bench.command.position, bench.state.position)
    for interface in (bench.command.velocity, bench.command.stiffness, bench.command.damping):
        assert not interface.any()


def test_a_wrong_command_is_refused_and_the_one_in_force_stays(bench: Bench) -> None:
    bench.send(0.5, 0.5)
    before = bench.tick()
    with pytest.raises(ControllerError, match="tip: command nan, expected a finite number"):
        bench.send(0.1, float("nan"))
    with pytest.raises(ControllerError, match="3 values, expected 2: one for each of knuckle, tip"):
        bench.send(0.1, 0.1, 0.1)
    assert np.sign(bench.tick()).tolist() == np.sign(before).tolist()


def test_the_force_factor_limits_from_the_next_tick_on(bench: Bench) -> None:
    bench.send(100.0, 100.0)
    assert bench.tick().max() == pytest.approx(5.0)
    bench.controller.set_force_factor(0.4)
    assert bench.tick().max() == pytest.approx(2.0)
    for wrong in (1.2, -0.1, float("nan")):
        with pytest.raises(ControllerError, match=r"max_force_factor is .*, expected 0 to 1"):
            bench.controller.set_force_factor(wrong)
    assert bench.tick().max() == pytest.approx(2.0)
    bench.controller.set_force_factor(0.0)
    assert not bench.tick().any()


def test_every_tenth_tick_is_reported(bench: Bench) -> None:
    numbers = []
    for _ in range(3 * REPORTED):
        bench.tick()
        assert bench.controller.report is not None
        numbers.append(bench.controller.report.number)
    assert numbers == [i // REPORTED for i in range(3 * REPORTED)]
    assert bench.controller.report.effort.shape == (2,)


@pytest.mark.parametrize(
    ("kind", "sent", "expected"),
    [
        (VelocityController, (9.0, -9.0), (2.0, -2.0)),
        (PositionController, (9.0, -9.0), (1.0, -1.0)),
        (MixedPositionVelocityController, (9.0, -9.0), (1.0, -1.0)),
    ],
)
def test_commands_are_limited_to_the_limits_of_the_joint(
    kind: type[ServoController], sent: tuple[float, ...], expected: tuple[float, ...]
) -> None:
    bench = Bench(kind)
    bench.send(*sent)
    bench.tick()
    assert bench.controller.report is not None
    np.testing.assert_allclose(bench.controller.report.set_point, expected)


def test_a_stale_command_ends_as_if_there_had_been_none() -> None:
    bench = Bench(VelocityController, command_timeout=0.05)
    bench.send(1.0, 1.0)
    assert bench.tick(50).all()
    assert not bench.tick(2).any()
    bench.send(1.0, 1.0)
    assert bench.tick().all()


def test_joints_are_damped_while_no_command_counts() -> None:
    bench = Bench(EffortController, command_timeout=0.05, stale_damping=0.7)
    bench.tick()
    assert bench.command.damping.tolist() == [0.7, 0.7], "no command has come yet"
    bench.send(1.0, 1.0)
    bench.tick()
    assert not bench.command.damping.any()
    bench.tick(52)
    assert bench.command.damping.tolist() == [0.7, 0.7]


def test_the_operator_is_warned_while_commands_are_stale() -> None:
    bench = Bench(VelocityController, command_timeout=0.05)
    bench.tick(100)
    assert not bench.controller.remark, "no command has come yet"
    for _ in range(2):
        bench.send(1.0, 1.0)
        bench.tick()
        assert not bench.controller.remark
        bench.tick(52)
        assert bench.controller.remark.startswith("stale commands")
    bench.controller.on_activate(bench.state, bench.command, bench.now)
    assert not bench.controller.remark


def test_a_command_that_comes_later_than_its_time_out_has_no_effect() -> None:
    bench = Bench(VelocityController, command_timeout=0.05)

    def send_late(*command: float) -> None:
        bench.controller.receive(np.array(command), bench.now - 0.06)

    send_late(1.0, 1.0)
    assert not bench.tick().any()
    assert bench.controller.remark.startswith("stale commands")
    bench.send(0.5, 0.5)
    driven = bench.tick()
    send_late(-1.0, -1.0)
    np.testing.assert_allclose(bench.tick(), driven)
    assert not bench.controller.remark


def test_gains_change_for_one_joint_and_come_back() -> None:
    bench = Bench(PositionController, deadband=0.0, gains={"p": 2.0})
    bench.send(0.8, 0.3)
    np.testing.assert_allclose(bench.tick(), [1.0, 1.0])
    bench.controller.set_gains("tip", Gains(p=4.0))
    np.testing.assert_allclose(bench.tick(), [1.0, 2.0])
    bench.controller.reset_gains()
    np.testing.assert_allclose(bench.tick(), [1.0, 1.0])
    with pytest.raises(ControllerError, match="unknown joint 'toe', expected one of knuckle, tip"):
        bench.controller.set_gains("toe", Gains(p=4.0))
    with pytest.raises(ControllerError, match="no PID loop"):
        Bench(EffortController).controller.set_gains("tip", Gains(p=4.0))


def test_joints_may_have_parameters_of_their_own() -> None:
    bench = Bench(
        PositionController,
        deadband=0.0,
        gains={"p": 2.0},
        joint_parameters={"tip": {"gains": {"p": 100.0}, "max_force": 3.0}},
    )
    bench.send(0.8, 0.8)
    np.testing.assert_allclose(bench.tick(), [1.0, 3.0])
    with pytest.raises(ConfigError, match=r"joint_parameters: .*toe"):
        Bench(PositionController, joint_parameters={"toe": {}})


def test_friction_comes_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "friction.yaml"
    save_friction_maps(path, FrictionMaps(date(2026, 11, 24), "sweep", {"tip": SMALL}))
    bench = Bench(EffortController, friction_map=str(path), friction_deadband=0.0)
    bench.send(0.5, -0.5)
    np.testing.assert_allclose(bench.tick(), [0.5, -1.5])
    save_friction_maps(path, FrictionMaps(date(2026, 11, 24), "sweep", {"toe": SMALL}))
    with pytest.raises(ConfigError, match="maps of toe, expected one of knuckle, tip"):
        Bench(EffortController, friction_map=str(path))


def test_a_joint_without_a_map_in_the_file_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "friction.yaml"
    save_friction_maps(path, FrictionMaps(date(2026, 11, 24), "sweep", {"tip": SMALL}))
    Bench(EffortController, friction_map=str(path))
    assert caplog.messages == [f"{path}: no map of knuckle: no friction is added there"]
    caplog.clear()
    both = {"tip": SMALL, "knuckle": SMALL}
    save_friction_maps(path, FrictionMaps(date(2026, 11, 24), "sweep", both))
    Bench(EffortController, friction_map=str(path))
    assert not caplog.messages


@pytest.mark.parametrize("largest", [-5.1, 400.0])  # [Nm]
def test_a_friction_map_beyond_the_effort_of_the_joint_is_refused(
    largest: float, tmp_path: Path
) -> None:
    path = tmp_path / "friction.yaml"
    curves = curve((0, max(largest, 0)), (1, 5)), curve((0, min(largest, 0)), (1, -5))
    save_friction_maps(
        path, FrictionMaps(date(2026, 11, 24), "sweep", {"tip": FrictionMap(*curves)})
    )
    text = rf"friction\.yaml: tip: a friction of {abs(largest):g} Nm, expected at most .* 5 Nm"
    with pytest.raises(ConfigError, match=text):
        Bench(EffortController, friction_map=str(path))


@pytest.mark.parametrize(
    ("more", "part"),
    [
        ({}, np.exp(-1.0)),
        ({"friction_velocity_decay": 0.0}, 1.0),
        ({"friction_velocity_threshold": 0.06}, 1.0),
        ({"friction_velocity_decay": 40.0, "friction_velocity_threshold": 0.035}, np.exp(-1.0)),
    ],
)
def test_parameter_sets_the_decrease_of_friction_with_speed(
    more: dict[str, float], part: float, tmp_path: Path
) -> None:
    path = tmp_path / "friction.yaml"
    save_friction_maps(path, FrictionMaps(date(2026, 11, 24), "sweep", {"tip": SMALL}))
    bench = Bench(EffortController, friction_map=str(path), **more)
    bench.state.velocity[:] = 0.06
    bench.send(0.5, 0.5)
    np.testing.assert_allclose(bench.tick(), [0.5, 0.5 + part])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"friction_velocity_decay": -1.0}, "greater than or equal to 0"),
        ({"gains": {"p": -1.0}}, "greater than or equal to 0"),
        ({"gains": {}}, "p"),
        ({"max_force_factor": 1.5}, "less than or equal to 1"),
        ({"deadband_mode": "guess"}, "deadband_mode"),
    ],
)
def test_wrong_parameters_are_refused(wrong: dict[str, object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Bench(VelocityController, **wrong)


@pytest.mark.parametrize("rate", [50.0, 333.0, 1000.0])
@pytest.mark.parametrize("window", [0.06, 0.2])
def test_the_window_of_the_deadband_is_in_seconds_at_any_rate(rate: float, window: float) -> None:
    """A push of three times the outer band counts after a third of the window, within a tick."""
    limit = np.ones(1)
    limits = JointLimits(-limit, limit, 2 * limit, 5 * limit)
    own = {"deadband": 0.01, "deadband_multiplier": 5.0, "deadband_mode": "average"}
    controller = PositionController()
    given = PositionController.Parameters.model_validate(GAINS | own | {"deadband_window": window})
    controller.on_configure(given, RobotFacts(JointSet(("one",)), limits, rate))
    state, command = JointState(1), JointCommand(1)
    state.array.fill(0.0)
    controller.on_activate(state, command, 0.0)
    for _ in range(round(2.0 * rate)):
        controller.update(state, command, 0.0, 1.0 / rate)
    assert controller._servo.holds[0]
    state.position[:] = 3 * 0.05
    ticks = 0
    while controller._servo.holds[0]:
        controller.update(state, command, 0.0, 1.0 / rate)
        ticks += 1
    assert ticks / rate == pytest.approx(window / 3.0, abs=1.5 / rate)


def joint_after(make: Callable[[], Bench], seconds: float, inertia: float = 0.02) -> np.ndarray:
    """Return the positions of a free joint on its way to 0.8 rad."""
    bench = make()
    bench.send(0.8, 0.8)
    found = []
    for _ in range(round(seconds * RATE)):
        effort = bench.tick()
        bench.state.velocity += PERIOD / inertia * (effort - 0.1 * bench.state.velocity)
        bench.state.position += PERIOD * bench.state.velocity
        found.append([bench.state.position[1], bench.state.velocity[1]])
    return np.array(found)


def test_the_mixed_controller_travels_at_its_speed_and_does_not_overshoot() -> None:
    found = joint_after(
        lambda: Bench(MixedPositionVelocityController, gains={"p": 2.0}, max_velocity=0.5), 4.0
    )
    position, velocity = found.T
    travelling = (position > 0.0) & (0.8 - position > 0.5 / 10.0 + 0.02)
    assert travelling.any()
    np.testing.assert_allclose(velocity[travelling], 0.5, rtol=0.06)
    assert position.max() < 0.8 + 0.015


def test_the_speed_of_travel_changes_at_run_time_for_one_joint_or_all() -> None:
    bench = Bench(MixedPositionVelocityController, gains={"p": 1.0}, deadband=0.0)
    bench.send(1.0, 1.0)  # from 0.3 and -0.2
    np.testing.assert_allclose(bench.tick(), [1.0, 1.0])
    set_curve = bench.controller.set_velocity_curve
    set_curve("tip", Curve(velocity_slope=10.0, min_velocity=0.0, max_velocity=0.25))
    np.testing.assert_allclose(bench.tick(), [1.0, 0.25])
    set_curve("knuckle", Curve(velocity_slope=0.5))
    np.testing.assert_allclose(bench.tick(), [0.35, 0.25])
    bench.send(-1.0, -1.0)
    np.testing.assert_allclose(bench.tick(), [-0.65, 0.0])  # the tip must not move back
    set_curve("", Curve(velocity_slope=100.0, min_velocity=-9.0, max_velocity=9.0))
    np.testing.assert_allclose(bench.tick(), [-2.0, -2.0])  # the limit of the joints
    with pytest.raises(ControllerError, match="unknown joint 'toe', expected one of knuckle, tip"):
        set_curve("toe", Curve())
    with pytest.raises(ValueError, match="nothing would move"):
        Curve(min_velocity=0.0, max_velocity=0.0)


@given(
    ticks=st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=1, max_size=30),
    factor=st.floats(0, 1),
    kind=st.sampled_from(ALL),
)
def test_no_effort_exceeds_what_the_joint_may(
    ticks: list[tuple[float, float]], factor: float, kind: type[ServoController]
) -> None:
    bench = Bench(kind, max_force_factor=factor)
    for command, position in ticks:
        bench.send(command, -command)
        bench.state.position[:] = position
        assert np.abs(bench.tick()).max() <= 5.0 * factor


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_no_effort_exceeds_what_the_joint_may_in_a_million_random_steps(
    kind: type[ServoController], tmp_path: Path
) -> None:
    """1000 joints for 250 ticks, of each of the four controllers."""
    count, generator = 1000, np.random.default_rng(21)
    names = tuple(f"joint_{i}" for i in range(count))
    path = tmp_path / "friction.yaml"
    small = FrictionMap(curve((0, 0.4), (1, 0.5)), curve((0, -0.5), (1, -0.4)))
    save_friction_maps(path, FrictionMaps(date(2026, 11, 24), "sweep", dict.fromkeys(names, small)))
    given: dict[str, object] = {"friction_map": str(path), "max_force": 3.0}
    if kind is not EffortController:
        given["gains"] = {"p": 100.0, "i": 1000.0, "d": 1.0, "i_clamp": 100.0}
    ones = np.ones(count)
    effort = generator.uniform(0.5, 5.0, count)
    controller = kind()
    controller.on_configure(
        kind.Parameters.model_validate(given),
        RobotFacts(JointSet(names), JointLimits(-ones, ones, 3.0 * ones, effort), RATE),
    )
    state, command, most = JointState(count), JointCommand(count), np.zeros(count)
    state.array.fill(0.0)
    controller.on_activate(state, command, 0.0)
    factor = 1.0
    for i in range(250):
        if i % 10 == 0:
            factor = generator.uniform(0.01, 1.0)
        controller.set_force_factor(factor)
        controller.receive(generator.normal(0.0, 2.0, count), i * PERIOD)
        state.array[:] = generator.normal(0.0, 1.0, state.array.shape)
        controller.update(state, command, i * PERIOD, PERIOD)
        allowed = np.minimum(effort, 3.0) * factor
        assert (np.abs(command.effort) <= allowed).all()
        most = np.maximum(most, np.abs(command.effort) / allowed)
    assert (most == 1.0).all()  # each limit was reached
