"""Obstacles to the health of a robot: drive faults, missing damping, wrong joint states."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from fault_campaign.judging.bounds import DAMPED, DAMPED_SHARE, VELOCITY_GAIN
from fault_campaign.robot_joints import TargetJoint
from humanoid_twin.erob.parameters import DriveParameters
from humanoid_twin.ethercat.commands import DriveReport

if TYPE_CHECKING:
    from fault_campaign.robot import Robot

MISSTATED: Final = 0.02  # [rad] largest error of the published position of a joint at rest
AGE: Final = 0.1  # [s] largest age of the joint states
_STATE_BITS, _OPERATION_ENABLED = 0x6F, 0x27  # of the statusword (CiA 402)


def ailing(robot: Robot) -> list[str]:
    """Return the obstacles to health: drive faults, no damping, and wrong joint states."""
    drives = robot.twin.drives() if robot.joints.of(TargetJoint.RING) else []
    erobs = [f"drive {i}: 0x{it['error']:04X}" for i, it in enumerate(drives) if it["error"]]
    motors = [f"motor {i}" for bus in robot.joints.buses
              for i, motor in robot.twin.bus(bus).can_drives().items()
              if motor["firmware"]["faults"] or not motor["firmware"]["enabled"]]  # fmt: skip
    limp = [f"{joint}: {text}" for joint, text in undamped(robot).items()]
    return [*erobs, *motors, *limp, *_misstated(robot)]


def undamped(robot: Robot) -> dict[str, str]:
    """Return the joints without the damping of DAMPING, each with what its drive has."""
    least = DAMPED_SHARE * DAMPED[robot.joints.robot]
    found = {}
    ring = robot.joints.actuators.ring
    for row, drive in zip(ring, robot.twin.drives() if ring else [], strict=True):
        own = row.parameters(DriveParameters())
        unit = VELOCITY_GAIN * own.torque_constant * own.gear
        found[row.joint] = unit * drive["vel_reg"] * drive["gate"] * _is_enabled(drive)
    for bus in robot.joints.buses:
        motors = robot.twin.bus(bus).can_drives()
        for joint in robot.joints.on_bus(bus):
            motor = motors.get(robot.joints.motor(joint))
            has_torque = motor is not None and motor["powered"] and motor["firmware"]["enabled"]
            found[joint] = motor["firmware"]["damping"] if motor and has_torque else 0.0
    return {
        joint: f"damping {damping:.2f} Nm s/rad"
        for joint, damping in found.items()
        if damping < least
    }


def _misstated(robot: Robot) -> Iterator[str]:
    """Yield the joints whose position differs from the latest joint states."""
    latest = robot.observer.joint_states[-1]
    stated = dict(zip(latest.name, latest.position, strict=True))
    for joint, truth in robot.twin.joints().items():
        bound = MISSTATED + AGE * abs(truth["velocity"])
        if not abs(stated[joint] - truth["position"]) < bound:
            yield f"{joint}: stated {stated[joint]:.3f} rad, is {truth['position']:.3f}"


def _is_enabled(drive: DriveReport) -> bool:
    """Return whether a drive on the ring has torque."""
    return drive["powered"] and drive["statusword"] & _STATE_BITS == _OPERATION_ENABLED
