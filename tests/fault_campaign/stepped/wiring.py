"""Drives of the stepped robot: their order on the ring, models and ids.

The shipped ring has the order of the joints, and its drives are all of one model: a place that
mistakes one for the other works there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, Final

import yaml

from fault_campaign.robot_joints import NO_MOTOR, RobotJoints
from humanoid_control_common.configuration.config import read_yaml
from humanoid_twin.erob.parameters import DriveParameters
from humanoid_twin.robot.actuators import load_actuators

_HIGHEST: Final = 127  # CAN id that motors of all families can have
_GEARS: Final = (40.0, 50.0, 60.0)
_SPREAD: Final = (0.85, 1.15)  # of a torque constant over that of the shipped eRobs
_IDS: Final = [id for id in range(1, _HIGHEST + 1) if id != NO_MOTOR]


def wired_anew(folder: Path, joints: RobotJoints, seed: str) -> RobotJoints:
    """Return the robot with its eRobs in another order, of other models, and other CAN ids.

    `seed` decides. Make `folder`, and write the hardware file and the file of the virtual robot
    there. Both have all other facts of the shipped files. The first also has the serial numbers of
    the second.
    """
    folder.mkdir(exist_ok=True)
    dice, drives = Random(f"{seed} wiring"), joints.package.drives
    virtual = read_yaml(drives.virtual_robot).content
    hardware = read_yaml(drives.hardware).content
    ring, buses = virtual.get("ring", []), virtual["can"].values()
    dice.shuffle(ring)
    for position, row in enumerate(ring):
        joint = row["joint"]
        number = row["serial_number"]
        _entry(hardware, joint).update(position=position, serial_number=number)
        row["torque_constant"] = DriveParameters().torque_constant * dice.uniform(*_SPREAD)
        row["gear"] = dice.choice(_GEARS)
        hardware["joints"]["erob_kt"][joint] = row["torque_constant"]
        hardware["joints"]["erob_gear"][joint] = row["gear"]
    motors = [row for rows in buses for row in rows]
    for row, id in zip(motors, dice.sample(_IDS, len(motors)), strict=True):
        row["id"] = id
        _entry(hardware, row["joint"])["id"] = id
    files = replace(
        drives,
        hardware=_written(folder / "campaign_hardware.yaml", hardware),
        virtual_robot=_written(folder / "campaign_virtual_robot.yaml", virtual),
    )
    package = replace(joints.package, drive_files=files)
    return RobotJoints(package, load_actuators(files.virtual_robot))


def _entry(hardware: Mapping[str, Any], joint: str) -> dict[str, Any]:
    """Return the entry of a joint's drive in a hardware file."""
    sections = [it for it in hardware["joints"].values() if isinstance(it, dict)]
    entry: dict[str, Any] = next(it[joint] for it in sections if isinstance(it.get(joint), dict))
    return entry


def _written(file: Path, content: Mapping[str, Any]) -> Path:
    file.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return file
