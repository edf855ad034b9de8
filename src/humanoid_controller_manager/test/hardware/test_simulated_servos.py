"""Simulated joints with gains per mode: the effect of commands, and the confirmation of gains."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import JointLimits
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware.generic_system import GenericSystem
from humanoid_controller_manager.hardware_component import HardwareInfo, JointInfo

# As eRobs realize 20 and 2, 0 and 6.
SERVO = {"mode_stiffness": "0 0 20.2 20.2 20.2", "mode_damping": "0 5.95 2.02 2.02 2.02"}
PER_TICK, PER_MODE, NEVER = 2, 1, 0
KP, KD = 20.2, 2.02


def mock_of(joints: tuple[JointInfo, ...], limits: JointLimits) -> HardwareInfo:
    """The block of a mock at 50 Hz."""
    return HardwareInfo(
        name="mock",
        plugin="mock_components/GenericSystem",
        parameters={},
        joints=joints,
        limits=limits,
        update_rate=50.0,
        urdf="",
    )


class Bench:
    """A mocked servo `a` and a mocked motor `b`, tick by tick."""

    def __init__(self, limits: Any, servo: Mapping[str, str] = SERVO) -> None:
        self.system = GenericSystem()
        joints = (JointInfo("a", servo, 0.1), JointInfo("b", {}, 0.1))
        self.system.on_configure(mock_of(joints, limits))
        self.state, self.command = JointState(2), JointCommand(2)
        self.system.on_activate(self.state)
        self.command.position[:] = 0.1

    def tick(self, count: int = 1) -> Bench:
        for _ in range(count):
            self.system.read(self.state, 0.0, 0.02)
            self.system.write(self.command, 0.0, 0.02)
        self.system.read(self.state, 0.0, 0.02)
        return self


@pytest.fixture
def bench(limits_of: Any) -> Bench:
    return Bench(limits_of(2))


def test_simulated_servo_has_the_capabilities_of_an_erob_and_a_motor_has_all(bench: Bench) -> None:
    expected = [PER_TICK, NEVER, NEVER, PER_MODE, PER_MODE]
    assert bench.system.capabilities().T.tolist() == [expected, [PER_TICK] * 5]


def test_a_mode_is_confirmed_once_its_gains_were_written_and_not_before(bench: Bench) -> None:
    bench.tick()
    assert bench.system.impedance_confirmed()
    bench.system.mode_changed(Mode.STANDBY, 2)
    assert not bench.system.impedance_confirmed()
    bench.system.read(bench.state, 0.0, 0.02)
    assert not bench.system.impedance_confirmed()  # nothing was written since
    bench.system.write(bench.command, 0.0, 0.02)
    assert not bench.system.impedance_confirmed()
    bench.system.read(bench.state, 0.0, 0.02)
    assert bench.system.impedance_confirmed()
    stiffness = bench.system.realized_stiffness()
    assert stiffness is not None
    assert stiffness[0] == KP
    assert np.isnan(stiffness[1])
    assert bench.system.realized_stiffness() is stiffness


def test_the_gains_of_the_mode_act_on_a_servo_whatever_is_commanded(bench: Bench) -> None:
    bench.system.mode_changed(Mode.REMOTE, 2)
    bench.tick()
    bench.command.position[:] = 0.3
    bench.command.stiffness[:], bench.command.damping[:] = 5.0, 0.5
    bench.tick()
    assert bench.state.effort.tolist() == pytest.approx([KP * 0.2, 5.0 * 0.2])


def test_velocity_and_effort_never_act_on_a_servo(bench: Bench) -> None:
    bench.system.mode_changed(Mode.DAMPING, 2)
    bench.tick()
    bench.command.velocity[:], bench.command.effort[:], bench.command.damping[:] = 1.0, 3.0, 2.0
    bench.tick()
    assert bench.state.effort.tolist() == [0.0, 5.0]


@pytest.mark.parametrize("confirmed", [True, False])
def test_the_target_of_a_servo_follows_it_without_commanded_or_confirmed_stiffness(
    bench: Bench, confirmed: bool
) -> None:
    bench.system.mode_changed(Mode.STANDBY, 2)
    bench.tick(2)
    if not confirmed:
        bench.system.mode_changed(Mode.REMOTE, 3)
    bench.command.position[:] = 0.9
    bench.command.stiffness[:] = 0.0 if confirmed else 20.0
    bench.system.write(bench.command, 0.0, 0.02)
    bench.system.read(bench.state, 0.0, 0.02)
    assert bench.state.position[0] == 0.1
    assert bench.state.effort[0] == 0.0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mode_stiffness": "0 0 20 20 20"}, "joint 'a': mode_damping is '', expected 5 numbers"),
        ({**SERVO, "mode_damping": "0 6 2 2"}, "mode_damping is '0 6 2 2', expected 5 numbers"),
        ({**SERVO, "mode_damping": "0 6 2 2 -2"}, "expected 5 numbers from 0 on: of ZERO_TORQUE"),
        ({**SERVO, "mode_stiffness": "0 0 x 20 20"}, "mode_stiffness is '0 0 x 20 20'"),
        ({**SERVO, "mode_stiffness": "0 0 inf 20 20"}, "mode_stiffness is '0 0 inf 20 20'"),
        ({"mode_stifness": "0 0 20 20 20"}, "joint 'a': unknown parameter mode_stifness"),
    ],
)
def test_gains_that_make_no_sense_are_refused(
    limits_of: Any, parameters: Mapping[str, str], message: str
) -> None:
    with pytest.raises(ConfigError, match=f"^<ros2_control name='mock'>: .*{message}"):
        Bench(limits_of(2), parameters)


def test_ten_thousand_commands_get_the_torque_of_the_law(limits_of: Any) -> None:
    """The law by hand: stiffness times distance, damping times speed, and the effort."""
    count = 10_000
    dice = np.random.default_rng(20)
    limits = limits_of(count)
    system = GenericSystem()
    at, low, high = dice.uniform(-1.0, 1.0, count), -2.0, 2.0
    joints = tuple(JointInfo(f"j{i}", {}, float(q)) for i, q in enumerate(at))
    system.on_configure(mock_of(joints, limits))
    command, state = JointCommand(count), JointState(count)
    command.array[:] = dice.uniform(low, high, (5, count))
    command.stiffness[:] = dice.uniform(0.0, 5.0, count)
    command.damping[:] = dice.uniform(0.0, 3.0, count)
    system.write(command, 0.0, 0.02)
    system.read(state, 0.0, 0.02)
    wanted, speed, push, kp, kd = command.array
    torque = kp * (wanted - at) + kd * speed + push
    bound = 10.0
    assert np.abs(torque).max() > bound
    assert state.effort == pytest.approx(np.clip(torque, -bound, bound), abs=1e-12)


def test_damping_alone_makes_a_torque_of_the_commanded_speed(limits_of: Any) -> None:
    bench = Bench(limits_of(2), {})
    bench.command.damping[:], bench.command.velocity[:] = 2.0, 1.0
    bench.tick()
    assert bench.state.effort.tolist() == [2.0, 2.0]
    assert bench.state.position.tolist() == [0.1, 0.1]
