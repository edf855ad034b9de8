"""Simulation and mock act as the robot: interfaces of each joint, and refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import numpy as np
import pytest
import yaml

from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import plan
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.mit_interface import COMMAND_INTERFACES, Capability
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup, load_hardware
from humanoid_controller_manager.hardware.urdf import parse_robot_description

WRISTS = {f"{side}_wrist_{part}" for side in ("left", "right") for part in ("roll", "pitch")}
SIMULATED = [
    Options(backend=Backend.MUJOCO),
    Options(backend=Backend.MOCK),
    Options(backend=Backend.REAL, backends="can"),
]
IDS = ["mujoco", "mock", "real, eRobs mocked"]


def description_of(options: Options, folder: Path) -> str:
    (control,) = (p for p in plan(options, folder) if p.label == "control")
    parameters = yaml.safe_load(control.parameter_files[-1].read_text())
    return str(parameters["controller_manager"]["ros__parameters"]["robot_description"])


def hardware_of(options: Options, folder: Path) -> HardwareGroup:
    rate = 200.0 if options.backend is Backend.MUJOCO else 50.0
    return load_hardware(parse_robot_description(description_of(options, folder), rate))


@pytest.fixture(params=SIMULATED, ids=IDS)
def hardware(request: pytest.FixtureRequest, tmp_path: Path) -> HardwareGroup:
    return hardware_of(request.param, tmp_path)


def acting(hardware: HardwareGroup) -> dict[str, list[int]]:
    columns = hardware.capabilities.T.tolist()
    return dict(zip(hardware.joints.names, columns, strict=True))


def test_erob_joints_take_the_interfaces_of_an_erob_and_wrists_take_all(
    hardware: HardwareGroup,
) -> None:
    for joint, levels in acting(hardware).items():
        expected = [2] * 5 if joint in WRISTS else [2, 0, 0, 1, 1]
        assert dict(zip(COMMAND_INTERFACES, levels, strict=True)) == dict(
            zip(COMMAND_INTERFACES, expected, strict=True)
        ), joint


def test_simulation_and_mock_refuse_interfaces_with_the_text_of_the_robot(
    hardware: HardwareGroup, tmp_path: Path
) -> None:
    robot = hardware_of(Options(backend=Backend.REAL, viewer=False), tmp_path)
    for interface in COMMAND_INTERFACES:
        needs = {interface: Capability.PER_TICK}
        assert hardware.lacking(needs) == robot.lacking(needs)
    assert "left_elbow_pitch" in hardware.lacking({"stiffness": Capability.PER_TICK})


@pytest.mark.parametrize("backend", [Backend.MUJOCO, Backend.MOCK])
def test_full_mit_is_an_option(backend: Backend, tmp_path: Path) -> None:
    hardware = hardware_of(Options(backend=backend, full_mit=True), tmp_path)
    assert (hardware.capabilities == Capability.PER_TICK).all()
    assert not hardware.confirms_impedance
    hardware.check_gains(Mode.STANDBY, 15.0, 1.5, "my_controller")


def test_each_drive_has_the_gains_that_its_registers_would_give_it(tmp_path: Path) -> None:
    """Gains 20 and 2: velocity gain 19 of 0.1063 Nm s/rad each, position gain 515 of 51.47."""
    urdf = fromstring(description_of(Options(backend=Backend.MUJOCO), tmp_path))
    found = {
        str(joint.get("name")): {
            str(p.get("name")): [float(word) for word in str(p.text).split()]
            for p in joint.findall("param")
            if str(p.get("name")).startswith("mode_")
        }
        for joint in urdf.findall("ros2_control/joint")
    }
    assert {joint for joint, gains in found.items() if not gains} == WRISTS
    for joint in found.keys() - WRISTS:
        damping = [0.0, 56 * 0.1063, *[19 * 0.1063] * 3]
        stiffness = [0.0, 0.0, *[19 * 0.1063 * 515 / 51.47] * 3]
        assert found[joint]["mode_damping"] == pytest.approx(damping, rel=1e-3)
        assert found[joint]["mode_stiffness"] == pytest.approx(stiffness, rel=1e-3)


@pytest.mark.parametrize(
    "options",
    [*SIMULATED, Options(backend=Backend.REAL, backends="ec", viewer=False)],
    ids=[*IDS, "real eRobs"],
)
def test_gains_that_the_drives_don_t_get_are_refused_with_both_values(
    options: Options, tmp_path: Path
) -> None:
    hardware = hardware_of(options, tmp_path)
    hardware.check_gains(Mode.STANDBY, 20.0, 2.0, "standby_controller")
    hardware.check_gains(Mode.DAMPING, 0.0, 6.0, "damping_controller")
    hardware.check_gains(Mode.ZERO_TORQUE, 0.0, 0.0, "zero_torque_controller")
    with pytest.raises(ConfigError) as refused:
        hardware.check_gains(Mode.STANDBY, 15.0, 1.5, "own.yaml: my_controller")
    message = str(refused.value)
    assert message.startswith("own.yaml: my_controller: stiffness 15, damping 1.5, but in STANDBY")
    assert "gives stiffness 20, damping 2 (mode_kp and mode_kd, value 2)" in message
    assert "left_elbow_pitch" in message
    assert "wrist_roll" not in message


@pytest.mark.parametrize(("stiffness", "damping"), [(20.0, 2.1), (20.1, 2.0), (0.0, 2.0)])
def test_single_gain_that_differs_from_the_mode_is_refused(
    tmp_path: Path, stiffness: float, damping: float
) -> None:
    hardware = hardware_of(Options(backend=Backend.MOCK), tmp_path)
    with pytest.raises(ConfigError, match="make them equal"):
        hardware.check_gains(Mode.REMOTE, stiffness, damping, "remote")


def test_the_mode_s_gains_are_known_of_the_erobs_alone(hardware: HardwareGroup) -> None:
    known = np.isfinite(hardware.mode_gains).all(axis=(0, 1))
    names: Any = np.array(hardware.joints.names)
    assert set(names[~known]) == WRISTS
    assert hardware.mode_gains[Mode.STANDBY][:, known].T.tolist() == [[20.0, 2.0]] * 10
