"""The control process of Prime with a description from CAD."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from humanoid_control_msgs.msg import ControlMode
from test_support.arm_joints import ALL_JOINTS
from test_support.exported_prime import Export

from humanoid_bringup.options import Backend
from humanoid_bringup.robot_package import find_robot


@pytest.mark.parametrize("backend", [Backend.MUJOCO, Backend.MOCK], ids=lambda it: it.value)
def test_prime_of_the_export_comes_up_and_reaches_its_pose(
    tmp_path: Path, start_control: Any, client: Any, backend: Backend
) -> None:
    robot = find_robot("prime", Export(tmp_path / "prime_cad").write())
    running = start_control(backend=backend, robot=robot, real_time_factor=0.0)
    client.connect()
    client.reach(ControlMode.DAMPING)
    client.reach(ControlMode.STANDBY)
    client.finish_standby()
    assert tuple(client.joint_states[-1].name) == ALL_JOINTS
    elbow = ALL_JOINTS.index("left_elbow_pitch")
    # Joint states may arrive later than the end of the way to the pose.
    client.until(lambda: abs(client.joint_states[-1].position[elbow] + 0.5) < 0.15, "the pose")
    running.end()
    assert running.process.returncode == 0
