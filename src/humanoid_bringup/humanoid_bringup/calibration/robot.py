"""Facts about the robot that the calibration reads from its description."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from humanoid_bringup.calibration.files import CalibrationFileError
from humanoid_bringup.calibration.formulas import Interval, JointCalibration
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.calibration import (
    Calibration,
    JointCalibrationEntry,
    load_complete_calibration,
)
from humanoid_control_common.robot.joints import JointSet
from humanoid_controller_manager.hardware.block_parameters import integer, number
from humanoid_controller_manager.hardware.urdf import RobotDescription, parse_robot_description
from humanoid_controller_manager.hardware_component import HardwareInfo
from humanoid_devices_erob.drive.gains import gains_to_registers
from humanoid_devices_erob.impedance.wiring import PLUGIN as EROB_PLUGIN
from humanoid_devices_erob.settings import drive_facts

# [Nm s/rad] that a limp joint has at least: DAMPING's, known not to let an arm drop.
LEAST_DAMPING: Final = 6.0
_IDS: Final = ("ring_position", "can_id")  # of a joint on a bus
_LARGEST_ID: Final = 0xFFFF
_FILE: Final = "calibration_file"
_ANY_RATE: Final = 200.0  # [Hz] where the description states none; the stricter gate


@dataclass(frozen=True, slots=True)
class Drive:
    """One eRob drive."""

    joint: str
    slave: int  # ring position
    least_damping: int  # LEAST_DAMPING as 0x2381:01


@dataclass(frozen=True, slots=True)
class Robot:
    """Joints in order, and the calibration that the robot applies."""

    joints: JointSet
    limits: Mapping[str, Interval]  # of the URDF
    ids: Mapping[str, int]  # ring position or CAN id; of mocked joints that in the file
    drives: Mapping[str, Drive]  # the eRobs
    loose: frozenset[str]  # joints that are limp in ZERO_TORQUE by themselves: the CAN motors
    file: Path
    prior: Mapping[str, JointCalibration]  # in `file`
    in_force: Calibration  # of all joints; identity where a joint is mocked
    period: float  # [s] of the control loop

    @property
    def on_a_bus(self) -> frozenset[str]:
        """Return the joints that are not mocked."""
        return self.loose.union(self.drives)


def read_robot(urdf: str) -> Robot:
    """Return the robot of a description, and of the calibration file that it names.

    Raises ConfigError: nothing to calibrate, or a file that is wrong.
    """
    description = parse_robot_description(urdf, _ANY_RATE)
    blocks = [block for block in description.blocks if block.parameters.get(_FILE)]
    path = _common_file(blocks)
    addresses = _addresses(description)
    entries = load_complete_calibration(path, addresses)
    limits = description.limits
    bounds = zip(limits.lower.tolist(), limits.upper.tolist(), strict=True)
    return Robot(
        joints=description.joints,
        limits=dict(zip(addresses, (Interval(*pair) for pair in bounds), strict=True)),
        ids={name: entries[name].id for name in addresses},
        drives={drive.joint: drive for block in blocks for drive in _drives(block)},
        loose=frozenset(
            joint.name for b in blocks if b.plugin != EROB_PLUGIN for joint in b.joints
        ),
        file=path,
        prior=_joint_calibrations(entries),
        in_force=_in_force(addresses, entries),
        period=_period(blocks),
    )


def refuse_changed(robot: Robot) -> None:
    """Refuse to write over a file that another program has changed since it was read.

    Raises CalibrationFileError naming the joints, ConfigError for a file that is wrong now.
    """
    now = _joint_calibrations(load_complete_calibration(robot.file, robot.ids))
    changed = [name for name in robot.joints.names if now[name] != robot.prior[name]]
    if changed:
        raise CalibrationFileError(
            f"{robot.file}: another program has changed {', '.join(changed)} meanwhile, which this "
            "result would undo: start the robot again, then calibrate again"
        )


def _joint_calibrations(
    entries: Mapping[str, JointCalibrationEntry],
) -> dict[str, JointCalibration]:
    return {name: JointCalibration(e.direction, e.homing_offset) for name, e in entries.items()}


def _common_file(blocks: Sequence[HardwareInfo]) -> Path:
    files = sorted({block.parameters[_FILE] for block in blocks})
    if not files:
        raise ConfigError(
            "the running robot has no calibration: a simulation or a mock needs none; "
            "start the real one with `hc up real --calibrate`"
        )
    if len(files) > 1:
        raise ConfigError(
            f"the robot uses two calibration files: {' and '.join(files)}; expected one"
        )
    return Path(files[0])


def _addresses(description: RobotDescription) -> dict[str, int | None]:
    """Return every joint, in order, and its id; None where it is on no bus."""
    found: dict[str, int | None] = dict.fromkeys(description.joints.names)
    for block in description.blocks:
        for joint in block.joints:
            for key in _IDS:
                if key in joint.parameters:
                    place = f"{block.place}: joint '{joint.name}'"
                    found[joint.name] = integer(joint.parameters, key, place, _LARGEST_ID)
    return found


def _in_force(
    addresses: Mapping[str, int | None], entries: Mapping[str, JointCalibrationEntry]
) -> Calibration:
    applied = [entries[name] if at is not None else None for name, at in addresses.items()]
    return Calibration(
        np.array([float(entry.direction) if entry else 1.0 for entry in applied]),
        np.array([entry.homing_offset if entry else 0.0 for entry in applied]),
    )


def _drives(block: HardwareInfo) -> list[Drive]:
    if block.plugin != EROB_PLUGIN:
        return []
    facts = drive_facts(block)
    registers = gains_to_registers(
        0.0,
        np.full(len(block.joints), LEAST_DAMPING),
        torque_constant=facts.torque_constant,
        gear=facts.gear,
    )
    return [
        Drive(joint.name, position, int(damping))
        for joint, position, damping in zip(
            block.joints, facts.ring_position.tolist(), registers.velocity_gain, strict=True
        )
    ]


def _period(blocks: Sequence[HardwareInfo]) -> float:
    for block in blocks:
        if text := block.parameters.get("control_frequency", ""):
            return 1.0 / number(text, f"{block.place}: control_frequency")
    return 1.0 / _ANY_RATE
