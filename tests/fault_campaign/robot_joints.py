"""The joints of a robot by their actuators: these decide on the kinds of faults of the robot."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import Final, Self
from xml.etree import ElementTree

from fault_campaign.scenario import HANDS
from humanoid_bringup.robot_package import DEFAULT, RobotPackage, find_robot
from humanoid_control_common.errors import ConfigError
from humanoid_controller_manager.hardware.urdf import RobotDescription, parse_robot_description
from humanoid_twin.robot.actuators import Actuators, load_actuators

# Families whose motors, as configured, disable themselves when no frame arrives.
_WATCHDOGS: Final = ("robstride",)
_ANY_RATE: Final = 200.0  # [Hz] of the loop; without effect on the names of the components

NO_MOTOR: Final = 99  # a CAN id that no motor has


class TargetJoint(Enum):
    """Sort of joint that a kind of fault strikes."""

    JOINT = "any joint"
    RING = "a joint on the EtherCAT ring"
    CAN = "a joint on a CAN bus"
    GUARDED = "a joint on a CAN bus whose motor has no watchdog of its own"


@dataclass(frozen=True, slots=True)
class RobotJoints:
    """All joints of one robot."""

    package: RobotPackage
    actuators: Actuators

    @classmethod
    def of_robot(cls, name: str) -> Self:
        """Read the joints from the files of a robot. Raises ConfigError."""
        package = find_robot(name)
        return cls(package, load_actuators(package.drives.virtual_robot))

    def check_hands(self) -> None:
        """Raise ConfigError for a robot without the links that carry the loads of the campaign."""
        links = {link.get("name") for link in ElementTree.fromstring(self.package.expand({}))}
        if missing := [hand for hand in HANDS if hand not in links]:
            raise ConfigError(
                f"{self.robot} has no link {missing[0]}: loads and pushes of the campaign are made "
                f"for arms that end in {' and '.join(HANDS)}"
            )

    @property
    def robot(self) -> str:
        """Return the name of the robot."""
        return self.package.name

    @property
    def all(self) -> tuple[str, ...]:
        """Return all joints in the plant's order."""
        return self.actuators.joints

    @property
    def in_loop(self) -> tuple[str, ...]:
        """Return all joints in the order of the control loop."""
        return tuple(_described(self.robot).joints.names)

    def of(self, struck: TargetJoint) -> tuple[str, ...]:
        """Return the joints of this sort; empty: the robot has none."""
        if struck is TargetJoint.JOINT:
            return self.all
        if struck is TargetJoint.RING:
            return self.actuators.ring_joints
        return tuple(
            row.joint
            for row in self.actuators.can_rows
            if struck is TargetJoint.CAN or row.family not in _WATCHDOGS
        )

    @property
    def buses(self) -> tuple[str, ...]:
        """Return the names of the CAN buses."""
        return tuple(self.actuators.can)

    def bus(self, joint: str) -> str:
        """Return the name of a joint's CAN bus. Raises KeyError for a joint on the ring."""
        return self._can[joint][0]

    def motor(self, joint: str) -> int:
        """Return the CAN id of a joint. Raises KeyError for a joint on the ring."""
        return self._can[joint][1]

    def on_bus(self, bus: str) -> tuple[str, ...]:
        """Return the joints of a CAN bus."""
        return tuple(row.joint for row in self.actuators.can[bus])

    def slave(self, joint: str) -> int:
        """Return the ring position of a joint. Raises ValueError for a joint on a CAN bus."""
        return self.actuators.ring_joints.index(joint)

    def address(self, joint: str) -> int:
        """Return the ring position or CAN id of a joint."""
        return self.motor(joint) if joint in self._can else self.slave(joint)

    def block(self, joint: str) -> str:
        """Return the name of a joint's hardware component."""
        blocks = _described(self.robot).blocks
        return next(it.name for it in blocks if joint in (row.name for row in it.joints))

    @property
    def _can(self) -> dict[str, tuple[str, int]]:
        buses = self.actuators.can.items()
        return {row.joint: (bus, row.id) for bus, rows in buses for row in rows}


def read_descriptions(joints: RobotJoints) -> None:
    """Expand the descriptions of a robot, once for all trials on copies of this process."""
    simulated_description(joints.robot)
    _described(joints.robot)


@cache
def simulated_description(robot: str) -> str:
    """Return the URDF of a robot as the simulation has it."""
    return find_robot(robot).expand({"use_sim": "true"})


@cache
def _described(robot: str) -> RobotDescription:
    return parse_robot_description(find_robot(robot).expand({}), _ANY_RATE)


PRIME: Final = RobotJoints.of_robot(DEFAULT)
