"""Mountings of the drives of the stepped robot, and the calibration file of the stack for them.

The shipped calibration is a placeholder. A real robot has drives that turn against their joints.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from random import Random

import yaml

from fault_campaign.robot_joints import RobotJoints, TargetJoint
from humanoid_control_common.configuration.config import read_yaml
from humanoid_twin.mounting import Mounting


def random_mountings(joints: RobotJoints, seed: str) -> dict[str, Mounting]:
    """Return a direction and an offset for each joint, by `seed`.

    Half of the drives on each bus turn against their joints.
    """
    dice = Random(f"{seed} mountings")
    found: dict[str, Mounting] = {}
    for bus in (joints.of(TargetJoint.RING), *map(joints.on_bus, joints.buses)):
        directions = [(-1) ** number for number in range(len(bus))]
        dice.shuffle(directions)
        for joint, direction in zip(bus, directions, strict=True):
            found[joint] = Mounting(direction, dice.uniform(-math.pi, math.pi))
    return found


def write_calibration(folder: Path, joints: RobotJoints, mountings: Mapping[str, Mounting]) -> Path:
    """Write the calibration of `mountings` into `folder`, with the robot's ids."""
    content = read_yaml(joints.package.drives.calibration).content
    for joint, mounting in mountings.items():
        content[joint] = {
            "id": joints.address(joint),
            "direction": mounting.direction,
            "homing_offset": mounting.offset,
        }
    file = folder / "campaign_calibration.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return file
