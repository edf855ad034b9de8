"""The drives of a ring on single inertias."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from humanoid_twin.erob.erob_drive import DriveShaft, ErobDrive
from humanoid_twin.erob.parameters import TICK, DriveParameters
from humanoid_twin.mounting import Mounting
from humanoid_twin.physics.plant import Inertia, Plant, SingleInertias


@dataclass(frozen=True, slots=True, kw_only=True)
class JointParameters:
    """One drive, how it is mounted, and the joint it moves."""

    inertia: Inertia
    drive: DriveParameters = field(default_factory=DriveParameters)
    mounting: Mounting = field(default_factory=Mounting)
    position: float = 0.0  # [rad] joint angle at the start


@dataclass(frozen=True, slots=True)
class Robot:
    """Drives in ring order and their plant; drive k moves joint k."""

    drives: tuple[ErobDrive, ...]
    plant: Plant

    def step(self, ticks: int = 1) -> None:
        """Advance all drives, then the plant, by `ticks` milliseconds."""
        for _ in range(ticks):
            for drive in self.drives:
                drive.step(TICK)
            self.plant.step(TICK)


# One arm of Prime in ring order: shoulder pitch, roll, yaw, elbow pitch, wrist yaw. Round figures
# of an arm of 4 kg and 0.6 m with 0.04 kg m² of rotor at each joint; hanging down it rests.
_ARM = (
    Inertia(inertia=0.30, viscous=0.15, coulomb=0.10, gravity=6.0),
    Inertia(inertia=0.30, viscous=0.15, coulomb=0.10, gravity=6.0),
    Inertia(inertia=0.10, viscous=0.10, coulomb=0.10, gravity=1.0),
    Inertia(inertia=0.12, viscous=0.10, coulomb=0.10, gravity=2.5),
    Inertia(inertia=0.05, viscous=0.05, coulomb=0.05, gravity=0.5),
)


def prime_arms(count: int = 10) -> tuple[JointParameters, ...]:
    """Return `count` joints: arm after arm of Prime, two of them by default."""
    return tuple(JointParameters(inertia=_ARM[joint % len(_ARM)]) for joint in range(count))


def bench(count: int = 10) -> tuple[JointParameters, ...]:
    """Return flywheels: Prime's inertias without gravity and friction, to measure gains on."""
    return tuple(
        replace(joint, inertia=Inertia(inertia=joint.inertia.inertia))
        for joint in prime_arms(count)
    )


def build_robot(joints: Sequence[JointParameters]) -> Robot:
    """Return the drives, powered up, on single inertias."""
    plant = SingleInertias(
        [joint.inertia for joint in joints], [joint.position for joint in joints]
    )
    return Robot(
        tuple(
            ErobDrive(joint.drive, DriveShaft(plant, index, joint.mounting))
            for index, joint in enumerate(joints)
        ),
        plant,
    )
