"""The drives of the stepped robot are mounted as on a real robot, not as in the placeholder."""

from __future__ import annotations

from pathlib import Path

import pytest
from fault_campaign.robot_joints import RobotJoints, TargetJoint
from fault_campaign.stepped.mountings import random_mountings, write_calibration
from fault_campaign.stepped.prepared import ADAPTERS

from humanoid_control_common.robot.calibration import load_calibration

ROBOTS = ("prime", "lite")


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("robot", ROBOTS)
def test_drives_of_every_bus_turn_with_their_joints_and_against_them(
    robot: str, adapter: str
) -> None:
    joints = RobotJoints.of_robot(robot)
    mountings = random_mountings(joints, f"{robot} {adapter}")
    buses = [joints.of(TargetJoint.RING), *map(joints.on_bus, joints.buses)]
    for bus in filter(None, buses):
        assert {mountings[joint].direction for joint in bus} == {1, -1}
        assert len({mountings[joint].offset for joint in bus}) == len(bus)


@pytest.mark.parametrize("robot", ROBOTS)
def test_the_calibration_of_the_stack_is_that_of_the_mountings(robot: str, tmp_path: Path) -> None:
    joints = RobotJoints.of_robot(robot)
    mountings = random_mountings(joints, robot)
    found = load_calibration(write_calibration(tmp_path, joints, mountings), joints.all)
    assert found.direction.tolist() == [mountings[it].direction for it in joints.all]
    assert found.homing_offset.tolist() == [mountings[it].offset for it in joints.all]
