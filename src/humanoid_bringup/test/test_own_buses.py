"""A robot whose drives only a hardware component of its own packages knows."""

from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import notes, plan
from humanoid_bringup.preflight.ready import require_machine
from humanoid_bringup.robot_package import Bus, RobotPackage, find_robot
from humanoid_control_common.errors import ConfigError

OWN = {"arms": Bus(kind="own", joints="joints of the arms")}
DESCRIPTION = """<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="own">
  <xacro:arg name="use_sim" default="false"/>
  <xacro:arg name="use_fake_hardware" default="false"/>
  <xacro:arg name="backends" default="all"/>
  <xacro:arg name="real_time_factor" default="1.0"/>
  <link name="base"/>
  <link name="arm"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="10" velocity="1"/>
  </joint>
  <ros2_control name="Own" type="system">
    <hardware><plugin>of_the_lab/Own</plugin></hardware>
    <joint name="shoulder"/>
  </ros2_control>
</robot>
"""


@pytest.fixture
def own(tmp_path: Path) -> RobotPackage:
    """The robot: one joint, and no files of drives."""
    file = tmp_path / "own.urdf.xacro"
    file.write_text(DESCRIPTION)
    lite = find_robot("lite")
    return replace(lite, title="Own", xacro_file=file, srdf_file=None, drive_files=None, buses=OWN)


def test_own_drives_come_up_without_files_of_buses(own: RobotPackage, tmp_path: Path) -> None:
    options = Options(backend=Backend.REAL, robot=own, viewer=False)
    assert require_machine(options) == []
    (control,) = (it for it in plan(options, tmp_path) if it.label == "control")
    parameters = yaml.safe_load(control.parameter_files[-1].read_text())
    assert parameters["controller_manager"]["ros__parameters"]["backend"] == "real"
    assert notes(options) == []


def test_the_only_bus_can_be_named(own: RobotPackage) -> None:
    assert notes(Options(backend=Backend.REAL, robot=own, backends="arms")) == []


def test_own_drives_have_no_virtual_robot(own: RobotPackage) -> None:
    with pytest.raises(ConfigError, match="robot of Own: a component of its own serves arms; use"):
        Options(backend=Backend.TWIN, robot=own)
    with pytest.raises(ConfigError, match="no virtual robot: a component of its own serves arms"):
        assert own.drives


def test_own_drives_have_no_calibration_of_this_workspace(own: RobotPackage) -> None:
    with pytest.raises(ConfigError, match="Own has no calibration file: the hardware component"):
        Options(backend=Backend.REAL, robot=own, calibrate=True)


def test_a_can_bus_beside_own_drives_needs_its_files(own: RobotPackage) -> None:
    buses = {**OWN, "can": Bus(kind="can", joints="joints of the hands")}
    with pytest.raises(ConfigError, match="add 'buses', and for EtherCAT and CAN 'drives'"):
        Options(backend=Backend.REAL, robot=replace(own, buses=buses))


@pytest.mark.parametrize("backend", [Backend.REAL, Backend.TWIN])
def test_a_robot_without_buses_is_for_simulation_and_mock_only(backend: Backend) -> None:
    with pytest.raises(ConfigError, match=r"Prime has no drives, .* add 'buses'"):
        Options(backend=backend, robot=replace(find_robot("prime"), buses={}))


def test_erobs_of_a_robot_that_states_no_ring_are_refused(tmp_path: Path) -> None:
    prime = find_robot("prime")
    wrists = replace(prime, buses={"can": prime.buses["can"]})
    options = Options(backend=Backend.REAL, robot=wrists, viewer=False)
    with pytest.raises(ConfigError, match=r"left_wrist_yaw.* are eRobs .* no bus of Prime"):
        plan(options, tmp_path)
