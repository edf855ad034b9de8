"""The mock hardware."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.safety import SafetyLevel
from humanoid_control_common.surface import Capability, JointCommand, JointState
from humanoid_controller_manager.generic_system import GenericSystem
from humanoid_controller_manager.hardware import (
    ConfirmsImpedance,
    HardwareInfo,
    JointInfo,
    ProvidesTime,
)


@pytest.fixture
def info(limits_of: Any) -> HardwareInfo:
    return HardwareInfo(
        name="mock",
        plugin="mock_components/GenericSystem",
        parameters={},
        joints=(JointInfo("a", {}, 0.25), JointInfo("b", {}, None)),
        limits=limits_of(2),
        update_rate=50.0,
        urdf="",
    )


@pytest.fixture
def system(info: HardwareInfo) -> GenericSystem:
    system = GenericSystem()
    system.on_configure(info)
    return system


def _read(system: GenericSystem) -> JointState:
    state = JointState(2)
    system.read(state, 0.0, 0.02)
    return state


def test_joints_start_at_their_initial_value(system: GenericSystem) -> None:
    state = JointState(2)
    system.on_activate(state)
    assert state.position.tolist() == [0.25, 0.0]
    assert not state.array[1:].any()


def test_a_stiff_joint_is_where_it_is_told_to_be_and_a_soft_one_stays(
    system: GenericSystem,
) -> None:
    command = JointCommand(2)
    command.array[:] = [[1.0, 1.5], [0.5, 0.5], [2.0, 3.0], [20.0, 0.0], [2.0, 6.0]]
    system.write(command, 0.0, 0.02)
    state = _read(system)
    assert state.position.tolist() == [1.0, 0.0]
    assert state.velocity.tolist() == [0.5, 0.0]
    assert state.effort.tolist() == [2.0, 3.0]


def test_what_was_written_may_change_afterwards(system: GenericSystem) -> None:
    command = JointCommand(2)
    command.array.fill(1.0)
    system.write(command, 0.0, 0.02)
    command.array.fill(9.0)
    assert np.all(_read(system).array == 1.0)


def test_every_interface_acts_in_every_tick(system: GenericSystem) -> None:
    assert system.capabilities().shape == (5, 2)
    assert np.all(system.capabilities() == Capability.PER_TICK)
    assert system.effort_limit(np.zeros(2)).tolist() == [10.0, 10.0]


def test_it_is_always_well_and_says_so_with_one_object(system: GenericSystem) -> None:
    assert system.safety() is system.safety()
    assert (system.safety().source, system.safety().level) == ("mock", SafetyLevel.OK)


def test_it_has_neither_time_nor_gains_of_its_own(system: GenericSystem) -> None:
    assert not isinstance(system, ProvidesTime)
    assert not isinstance(system, ConfirmsImpedance)


def test_parameters_it_does_not_know_are_refused(info: HardwareInfo, limits_of: Any) -> None:
    wrong = HardwareInfo(
        name="mock",
        plugin=info.plugin,
        parameters={"speed": "3"},
        joints=info.joints,
        limits=info.limits,
        update_rate=50.0,
        urdf="",
    )
    with pytest.raises(ConfigError, match=r"mock: unknown parameter speed"):
        GenericSystem().on_configure(wrong)
