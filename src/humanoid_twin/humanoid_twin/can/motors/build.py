"""All motors of a CAN bus and their joints: one side of the virtual robot."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.can.motors.families import build_firmware
from humanoid_twin.can.motors.firmware import TICK
from humanoid_twin.can.motors.motor import CanMotor
from humanoid_twin.clock import Moment
from humanoid_twin.errors import CanError
from humanoid_twin.mounting import MountedEncoder, Mounting
from humanoid_twin.physics.plant import Inertia, Plant, SingleInertias

_HIGHEST_ID: Final = 0xFF


@dataclass(frozen=True, slots=True, kw_only=True)
class CanJoint:
    """One motor, how it is mounted, and the joint it moves."""

    index: int  # of the joint in the plant
    family: str  # of MOTOR_FAMILIES
    model: str  # "TA40-50", "rs-03" ...
    mounting: Mounting = field(default_factory=Mounting)


class VirtualCan:
    """A bus and its motors, as a `Side` of the scheduler."""

    def __init__(self, bus: VirtualCanBus) -> None:
        self.bus = bus
        self.motors: list[CanMotor] = []
        self._flywheels: list[SingleInertias] = []  # turned by motors that aren't the robot's
        # It is on the bus only while it sends: it acknowledges nothing.
        self._foreign_node = bus.attach(lambda _frame, _now: None, queue_length=1000)
        self._foreign_node.acknowledges = False

    @property
    def next_event(self) -> int:
        """See Side."""
        return self.bus.next_event

    def run(self, now: int) -> None:
        """See Side."""
        self.bus.run(now)

    def step(self) -> None:
        """See Side."""
        for motor in self.motors:
            motor.step()

    def tick(self) -> None:
        """See Side."""
        for flywheel in self._flywheels:
            flywheel.step(TICK)

    def add(self, device: int, plant: Plant, joint: CanJoint) -> CanMotor:
        """Add a motor. Raises CanError for an id out of range, an unknown family or model."""
        if not 0 < device <= _HIGHEST_ID:
            raise CanError(f"CAN id {device}, expected 1 to {_HIGHEST_ID}")
        shaft = MountedEncoder(plant, joint.index, joint.mounting)
        firmware = build_firmware(joint.family, joint.model, device)
        motor = CanMotor(self.bus, shaft, firmware, joint.family, joint.model)
        self.motors.append(motor)
        return motor

    def add_foreign(self, device: int, family: str, model: str) -> CanMotor:
        """Add a motor that isn't the robot's: it turns a flywheel of its own, at 1 rad."""
        flywheel = SingleInertias([Inertia(inertia=0.05, viscous=0.05)], [1.0])
        motor = self.add(device, flywheel, CanJoint(index=0, family=family, model=model))
        self._flywheels.append(flywheel)
        return motor

    def motor(self, device: int) -> CanMotor:
        """Return the motor with an id, the first of two. Raises CanError without one."""
        for motor in self.motors:
            if motor.firmware.device == device:
                return motor
        there_are = ", ".join(str(motor.firmware.device) for motor in self.motors)
        raise CanError(f"no motor {device} on the bus, there are {there_are}")

    def stray(self, frame: CanFrame) -> None:
        """Send a frame from an unknown node. Raises CanError if it can't be sent."""
        if not self._foreign_node.send(frame, self.bus.now):
            raise CanError("the stranger's queue is full, or it is bus-off")


def build_can(
    plant: Plant, joints: Mapping[int, CanJoint], moment: Moment | None = None
) -> VirtualCan:
    """Return a bus with the motors of joints by CAN id, powered up and disabled.

    `moment`: the robot's time, shared with its other units. Raises CanError for an unknown family
    or model, or an id out of range.
    """
    can = VirtualCan(VirtualCanBus(moment))
    for device, joint in joints.items():
        can.add(device, plant, joint)
    return can
