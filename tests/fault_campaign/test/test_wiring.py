"""The stepped robot is wired in another order than its joints, and the stack has to follow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fault_campaign.kinds.can import OTHER
from fault_campaign.robot_joints import RobotJoints, TargetJoint
from fault_campaign.stepped.mountings import random_mountings, write_calibration
from fault_campaign.stepped.prepared import ADAPTERS
from fault_campaign.stepped.wiring import wired_anew

from humanoid_control_common.configuration.config import read_yaml
from humanoid_control_common.robot.calibration import load_calibration
from humanoid_controller_manager.hardware.urdf import parse_robot_description

ROBOTS = ("prime", "lite")
ADDRESSES = ("ring_position", "can_id")
OWN_FACTS = ("erob_kt", "erob_gear")  # of the eRobs, in the hardware file


@pytest.fixture(params=[(robot, adapter) for robot in ROBOTS for adapter in ADAPTERS])
def seed(request: pytest.FixtureRequest) -> tuple[str, str]:
    """The robot, and the seed of its wiring."""
    robot, adapter = request.param
    return robot, f"{robot} {adapter}"


def test_no_place_of_the_ring_is_that_of_the_joint_in_order(tmp_path: Path) -> None:
    for adapter in ADAPTERS:
        shipped = RobotJoints.of_robot("prime")
        wired = wired_anew(tmp_path, shipped, f"prime {adapter}")
        ring = shipped.of(TargetJoint.RING)
        at = [wired.slave(joint) for joint in ring]
        assert sorted(at) == list(range(len(ring)))
        assert at != sorted(at)
        # An order that is its own inverse hides a place that converts in the wrong direction.
        assert at != np.argsort(at).tolist()


def test_every_can_motor_has_an_id_of_its_own_and_another_one(
    tmp_path: Path, seed: tuple[str, str]
) -> None:
    shipped = RobotJoints.of_robot(seed[0])
    wired = wired_anew(tmp_path, shipped, seed[1])
    joints = wired.of(TargetJoint.CAN)
    ids = [wired.motor(joint) for joint in joints]
    assert len(set(ids)) == len(joints) == len(shipped.of(TargetJoint.CAN))
    assert all(wired.motor(joint) != shipped.motor(joint) for joint in joints)
    assert OTHER not in ids


def test_the_stack_reads_the_addresses_and_facts_of_the_virtual_robot(
    tmp_path: Path, seed: tuple[str, str]
) -> None:
    wired = wired_anew(tmp_path, RobotJoints.of_robot(seed[0]), seed[1])
    calibration = write_calibration(tmp_path, wired, random_mountings(wired, seed[1]))
    arguments = {
        "hardware_config": str(wired.package.drives.hardware),
        "calibration_file": str(calibration),
    }
    described = parse_robot_description(wired.package.expand(arguments), 200.0)
    found = [joint for block in described.blocks for joint in block.joints]
    addresses = {
        joint.name: int(joint.parameters[key])
        for joint in found
        for key in ADDRESSES
        if key in joint.parameters
    }
    assert addresses == {joint: wired.address(joint) for joint in wired.all}
    serials = {
        joint.name: int(joint.parameters["serial_number"])
        for joint in found
        if "serial_number" in joint.parameters
    }
    assert serials == {row.joint: row.serial_number for row in wired.actuators.ring}
    assert len(set(serials.values())) == len(serials)
    facts = {
        joint.name: (float(joint.parameters["kt"]), float(joint.parameters["gear"]))
        for joint in found
        if "kt" in joint.parameters
    }
    assert facts == {row.joint: (row.torque_constant, row.gear) for row in wired.actuators.ring}
    assert len(set(facts.values())) == len(facts)
    load_calibration(calibration, wired.all, [wired.address(joint) for joint in wired.all])


def test_all_but_the_wiring_is_shipped(tmp_path: Path, seed: tuple[str, str]) -> None:
    shipped = RobotJoints.of_robot(seed[0])
    wired = wired_anew(tmp_path, shipped, seed[1])

    def without_wiring(joints: RobotJoints) -> dict[str, Any]:
        content: dict[str, Any] = dict(read_yaml(joints.package.drives.hardware).content)
        for key in OWN_FACTS:
            content["joints"].pop(key, None)
        for section in content["joints"].values():
            for row in section.values() if isinstance(section, dict) else ():
                for key in ("position", "serial_number", "id"):
                    row.pop(key, None)
        return content

    assert without_wiring(wired) == without_wiring(shipped)
    own = {"torque_constant": None, "gear": None}
    assert {row.joint: row.model_copy(update=own) for row in wired.actuators.ring} == {
        row.joint: row for row in shipped.actuators.ring
    }
    rows = [row.model_copy(update={"id": 0}) for row in wired.actuators.can_rows]
    assert rows == [row.model_copy(update={"id": 0}) for row in shipped.actuators.can_rows]
