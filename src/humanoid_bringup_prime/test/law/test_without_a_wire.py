"""The MIT law without rounding: simulation and mock."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.hardware.generic_system import GenericSystem
from humanoid_devices_mujoco.mujoco_system import MujocoSystem

ROUNDING = 1e-9  # [Nm] of floating-point numbers
URDF = """<robot name="one">
  <link name="base"/>
  <link name="arm">
    <inertial>
      <origin xyz="0.2 0 0"/><mass value="1"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>
    </inertial>
  </link>
  <joint name="j0" type="revolute">
    <parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-3" upper="3" velocity="4" effort="30"/>
  </joint>
</robot>"""


def test_simulated_joint_gets_the_torque_of_the_law(
    row: Any, known_state: Any, block_info: Any, law_table: Any
) -> None:
    block = {"timestep": "0.001", "real_time_factor": "0"}
    system = MujocoSystem()
    joints = [{"rotor_inertia": "0.01"}]
    system.on_configure(block_info(block, joints, urdf=URDF, update_rate=1000.0))
    state, command = JointState(1), JointCommand(1)
    system.on_activate(state)
    row.fill(command)
    system.data.qpos[:], system.data.qvel[:] = known_state
    system.write(command, 0.0, 0.001)  # one physics step from the known state
    system.read(state, 0.001, 0.001)
    expected, torque = row.law(*known_state), float(state.effort[0])
    law_table.add(row.name, "MuJoCo", expected, torque, torque - expected, ROUNDING)
    assert torque == pytest.approx(expected, abs=ROUNDING)


def test_mock_states_the_effort_of_the_law_and_is_then_at_its_target(
    row: Any, known_state: Any, block_info: Any, law_table: Any
) -> None:
    """A mock joint has no mass: stiff, it is at its target; soft, it stays."""
    system = GenericSystem()
    system.on_configure(block_info({}, [{}], initial=known_state[0]))
    state, command = JointState(1), JointCommand(1)
    system.on_activate(state)
    measured = (known_state[0], 0.0)
    np.testing.assert_array_equal(state.array[:, 0], [*measured, 0.0])
    row.fill(command)
    system.write(command, 0.0, 0.02)
    system.read(state, 0.02, 0.02)
    there = (row.position, row.velocity) if row.stiffness > 0.0 else measured
    assert (state.position[0], state.velocity[0]) == there
    expected, torque = row.law(*measured), float(state.effort[0])
    law_table.add(row.name, "mock", expected, torque, torque - expected, ROUNDING)
    assert torque == pytest.approx(expected, abs=ROUNDING)
