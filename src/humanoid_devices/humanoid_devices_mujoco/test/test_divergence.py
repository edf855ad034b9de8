"""A simulation that diverges: a fault, never a crash, and a recovery."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from humanoid_control_common.robot.mit_interface import (
    COMMAND_INTERFACES,
    Capability,
    JointCommand,
    JointState,
)
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.hardware.member import Member

ABSURD = (1e13, 0.0, 0.0)  # [N], or [Nm]


def diverge(simulation: Any) -> None:
    simulation.system.apply_wrench("arm", ABSURD, ABSURD[::-1])
    simulation.system.read(simulation.state, 0.0, 0.0)
    simulation.tick()


def test_a_simulation_that_diverges_is_a_fault_and_stands_still(
    simulate: Any, one_joint: Any, caplog: pytest.LogCaptureFixture
) -> None:
    simulation = simulate(one_joint(initial=0.3).urdf())
    assert simulation.system.safety().level is SafetyLevel.OK

    with caplog.at_level(logging.WARNING):
        diverge(simulation)
    held = simulation.run(0.2)

    report = simulation.system.safety()
    assert report.source == "Sim"
    assert report.level is SafetyLevel.FAULT
    assert "diverged before 0.005 s: acceleration not finite or huge" in report.message
    assert simulation.system.safety() is report
    assert (held.position == 0.3).all()
    assert not held.velocity.any()
    assert not held.effort.any()
    assert simulation.system.time == pytest.approx(0.205)
    assert "QACC" in caplog.text  # the messages of MuJoCo are in the log


def test_mujoco_leaves_no_log_file_where_it_was_run(
    simulate: Any, one_joint: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    diverge(simulate(one_joint().urdf()))

    assert mujoco.get_mju_user_warning() is not None
    assert not list(tmp_path.iterdir())


def test_a_command_too_large_for_the_simulation_is_a_fault(simulate: Any, one_joint: Any) -> None:
    simulation = simulate(one_joint().urdf())
    simulation.command.position[:] = 1.0
    simulation.command.stiffness[:] = 1e12

    simulation.tick()

    assert "command not finite or huge" in simulation.system.safety().message


@pytest.mark.parametrize("door", ["reset service", "clear fault"])
def test_a_reset_ends_the_fault(simulate: Any, one_joint: Any, door: str) -> None:
    simulation = simulate(one_joint(initial=0.3).urdf())
    diverge(simulation)
    simulation.command.effort[:] = 1.0
    order = simulation.system.reset_faults if door == "clear fault" else None

    (order or simulation.system.request_reset)()
    simulation.system.read(simulation.state, simulation.system.time, simulation.period)

    assert simulation.system.safety().level is SafetyLevel.OK
    assert simulation.state.array[:, 0].tolist() == [0.3, 0.0, 0.0]
    simulation.run(0.1)
    assert simulation.state.position[0] > 0.3  # the robot moves again, without a wrench
    assert simulation.state.effort[0] == pytest.approx(1.0)


def test_clearing_faults_of_a_sound_simulation_changes_nothing(
    simulate: Any, one_joint: Any
) -> None:
    simulation = simulate(one_joint().urdf())
    simulation.command.effort[:] = 1.0
    simulation.run(0.1)
    before = simulation.state.position[0]

    simulation.system.reset_faults()
    simulation.tick()

    assert simulation.state.position[0] > before


def test_in_the_group_a_divergence_is_a_fault_and_the_loop_goes_on(
    simulate: Any, one_joint: Any
) -> None:
    simulation = simulate(one_joint(initial=0.3).urdf())
    member = Member(
        simulation.info, simulation.system, np.array([0]), JointState(1), JointCommand(1)
    )
    group = HardwareGroup(simulation.description.joints, [member])
    state, command = JointState(1), JointCommand(1)
    group.configure()
    group.activate(state)
    assert group.simulates_time
    assert group.lacking(dict.fromkeys(COMMAND_INTERFACES, Capability.PER_TICK)) == ""

    simulation.system.apply_wrench("arm", ABSURD, ABSURD)
    faults = []
    for _ in range(5):
        group.read(state, simulation.system.time, simulation.period)
        group.write(command, simulation.system.time, simulation.period)
        group.refresh_reports()
        faults.append(group.reports[0].level)
    group.read(state, simulation.system.time, simulation.period)

    assert faults == [SafetyLevel.FAULT] * 5  # seen in the tick it happens in
    assert state.array[:, 0].tolist() == [0.3, 0.0, 0.0]

    group.reset_faults()
    group.read(state, simulation.system.time, simulation.period)
    group.refresh_reports()
    assert group.reports[0].level is SafetyLevel.OK
    group.deactivate()
