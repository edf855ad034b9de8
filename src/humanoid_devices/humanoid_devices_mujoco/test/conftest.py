"""Simulations ticked by tests: Prime from the source tree, and one joint with a known motion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.hardware.urdf import RobotDescription, parse_robot_description
from humanoid_controller_manager.hardware_component import HardwareInfo
from humanoid_devices_mujoco.mujoco_system import MujocoSystem
from prime_description import expand

SOURCES = Path(__file__).resolve().parents[3]
CONFIG = SOURCES / "humanoid_bringup_prime" / "config"
XACRO = SOURCES / "prime_description/robots/prime_dummy/xacro/prime_dummy.urdf.xacro"

INTERFACES = """
      <command_interface name="position"/><command_interface name="velocity"/>
      <command_interface name="effort"/><command_interface name="stiffness"/>
      <command_interface name="damping"/>
      <state_interface name="velocity"/><state_interface name="effort"/>"""


@dataclass(frozen=True, slots=True, kw_only=True)
class OneJoint:
    """A link of 1 kg whose centre of mass is 0.2 m off the joint axis, to the side or below."""

    axis: str = "0 0 1"  # vertical: gravity has no effect
    centre: str = "0.2 0 0"  # [m]
    initial: float = 0.0  # [rad]
    effort: float = 100.0  # [Nm], limit
    rotor_inertia: str = "0.01"  # [kg m^2]
    kind: str = "revolute"
    mass: float = 1.0  # [kg]
    arm: float = 0.2  # [m], of `centre`
    inertia: float = 0.06  # [kg m^2] about the axis: 0.01 + 1 * 0.2^2, and the rotor's 0.01
    block: str = '<param name="timestep">0.001</param><param name="real_time_factor">1</param>'

    def urdf(self) -> str:
        """The robot description."""
        rotor = f'<param name="rotor_inertia">{self.rotor_inertia}</param>'
        return f"""<robot name="one">
  <link name="base"/>
  <link name="arm">
    <inertial>
      <origin xyz="{self.centre}"/><mass value="{self.mass}"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="hinge" type="{self.kind}">
    <parent link="base"/><child link="arm"/><axis xyz="{self.axis}"/>
    <limit lower="-3" upper="3" velocity="50" effort="{self.effort}"/>
  </joint>
  <ros2_control name="Sim" type="system">
    <hardware><plugin>mujoco_ros2_control/MujocoSystem</plugin>{self.block}</hardware>
    <joint name="hinge">{rotor if self.rotor_inertia else ""}{INTERFACES}
      <state_interface name="position"><param name="initial_value">{self.initial}</param>
      </state_interface>
    </joint>
  </ros2_control>
</robot>"""


@dataclass(frozen=True, slots=True)
class History:
    """The measurements of a simulation after each tick; arrays of shape (ticks, n_joints)."""

    time: FloatArray  # [s] since the start of the record, shape (ticks,)
    position: FloatArray  # [rad]
    velocity: FloatArray  # [rad/s]
    effort: FloatArray  # [Nm]


class Simulation:
    """An active MujocoSystem with a command to fill in."""

    def __init__(self, urdf: str, update_rate: float = 200.0) -> None:
        self.description: RobotDescription = parse_robot_description(urdf, update_rate)
        self.info: HardwareInfo = self.description.blocks[0]
        self.period = 1.0 / update_rate
        count = len(self.info.joints)
        self.state, self.command = JointState(count), JointCommand(count)
        self.system = MujocoSystem()
        self.system.on_configure(self.info)
        self.system.on_activate(self.state)

    def tick(self) -> None:
        """Write the command, then read the state one period later."""
        self.system.write(self.command, self.system.time, self.period)
        self.system.read(self.state, self.system.time, self.period)

    def run(self, seconds: float, before: Callable[[], None] = lambda: None) -> History:
        """Run ticks for `seconds`; call `before` before each."""
        ticks = round(seconds / self.period)
        record = np.empty((ticks, 3, self.state.position.size))
        for sample in record:
            before()
            self.tick()
            sample[:] = self.state.array
        position, velocity, effort = np.moveaxis(record, 1, 0)
        times: FloatArray = np.arange(1, ticks + 1) * np.float64(self.period)
        return History(times, position, velocity, effort)

    def place(self, position: FloatArray, velocity: FloatArray | float = 0.0) -> None:
        """Put the joints at `position` [rad] with `velocity` [rad/s]."""
        names = self.info.joint_set.names
        joints = [self.system.model.joint(name) for name in names]
        self.system.data.qpos[[joint.qposadr[0] for joint in joints]] = position
        self.system.data.qvel[[joint.dofadr[0] for joint in joints]] = velocity
        self.system.read(self.state, self.system.time, self.period)


@cache
def _prime_urdf() -> str:
    files = {
        "hardware_config": str(CONFIG / "prime_hardware.yaml"),
        "calibration_file": str(CONFIG / "prime_calibration.yaml"),
    }
    return expand(files | {"use_sim": "true"}, XACRO)


@pytest.fixture(scope="session")
def one_joint() -> type[OneJoint]:
    return OneJoint


@pytest.fixture(scope="session")
def simulate() -> type[Simulation]:
    return Simulation


@pytest.fixture(scope="session")
def prime_urdf() -> str:
    return _prime_urdf()


@pytest.fixture
def prime(prime_urdf: str) -> Simulation:
    """Prime at its initial pose, 200 Hz."""
    return Simulation(prime_urdf)


@pytest.fixture(scope="session")
def raised_pose(prime_urdf: str) -> FloatArray:
    """Both arms stretched out forward and sideways, elbows bent: gravity pulls at every arm."""
    names = parse_robot_description(prime_urdf, 200.0).joints.names
    left = {
        "left_shoulder_pitch": -1.3,
        "left_shoulder_roll": 0.5,
        "left_shoulder_yaw": 0.4,
        "left_elbow_pitch": -0.8,
        "left_wrist_roll": 0.3,
        "left_wrist_pitch": -0.4,
        "left_wrist_yaw": 0.6,
    }
    right = {
        name.replace("left", "right"): value if name.endswith("pitch") else -value
        for name, value in left.items()
    }
    return np.array([(left | right)[name] for name in names])
