"""Prime's drives and motors on one plant."""

from collections.abc import Mapping
from pathlib import Path

from humanoid_control_common.errors import ConfigError
from humanoid_twin.can.motors.build import CanJoint, VirtualCan, build_can
from humanoid_twin.clock import Moment
from humanoid_twin.erob.erob_drive import DriveShaft, ErobDrive
from humanoid_twin.erob.parameters import DriveParameters
from humanoid_twin.mounting import Mounting
from humanoid_twin.physics.plant import Plant
from humanoid_twin.prime import CAN_JOINTS, JOINTS, RING_JOINTS

Mountings = Mapping[str, Mounting]
_DEFAULT_MOUNTING = Mounting()


def read_urdf(path: Path) -> str:
    """Return the text of a URDF file. Raises ConfigError if it can't be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"URDF of the virtual robot '{path}': {error}") from error


def build_drives(
    plant: Plant, mountings: Mountings, parameters: DriveParameters | None = None
) -> tuple[ErobDrive, ...]:
    """Return the ten eRobs in ring order, powered up."""
    parameters = parameters or DriveParameters()
    return tuple(
        ErobDrive(parameters, DriveShaft(plant, index, mountings.get(joint, _DEFAULT_MOUNTING)))
        for index, joint in enumerate(RING_JOINTS)
    )


def build_wrists(plant: Plant, mountings: Mountings, moment: Moment) -> VirtualCan:
    """Return the bus with the four Sito motors, powered up."""
    joints = {
        device: CanJoint(
            index=JOINTS.index(joint),
            family="sito",
            model="TA40-50",
            mounting=mountings.get(joint, _DEFAULT_MOUNTING),
        )
        for device, joint in CAN_JOINTS.items()
    }
    return build_can(plant, joints, moment)
