"""Prime's drives on one MuJoCo plant."""

from collections.abc import Mapping
from pathlib import Path

from humanoid_control_common.errors import ConfigError
from humanoid_twin.can.robot import CanJoint, VirtualCan, build_can
from humanoid_twin.clock import Moment
from humanoid_twin.drive.erob import ErobDrive
from humanoid_twin.drive.parameters import DriveParameters, Mounting
from humanoid_twin.drive.plant import Plant
from humanoid_twin.drive.shaft import Shaft
from humanoid_twin.prime import CAN_JOINTS, JOINTS, RING_JOINTS

Mountings = Mapping[str, Mounting]
_STRAIGHT = Mounting()


def read_urdf(path: Path) -> str:
    """The text of a URDF file. Raises ConfigError for one that can't be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"URDF of the virtual robot '{path}': {error}") from error


def build_drives(
    plant: Plant, mountings: Mountings, parameters: DriveParameters | None = None
) -> tuple[ErobDrive, ...]:
    """The ten eRobs in ring order, powered up."""
    parameters = parameters or DriveParameters()
    return tuple(
        ErobDrive(parameters, Shaft(plant, index, mountings.get(joint, _STRAIGHT)))
        for index, joint in enumerate(RING_JOINTS)
    )


def build_wrists(plant: Plant, mountings: Mountings, moment: Moment) -> VirtualCan:
    """The bus with the four Sito motors, powered up."""
    joints = {
        device: CanJoint(
            index=JOINTS.index(joint),
            family="sito",
            model="TA40-50",
            mounting=mountings.get(joint, _STRAIGHT),
        )
        for device, joint in CAN_JOINTS.items()
    }
    return build_can(plant, joints, moment)
