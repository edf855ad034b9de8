"""All motors of a CAN bus and what they turn: one side of the virtual robot."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, TypeVar

from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.errors import CanError
from humanoid_twin.can.firmware import TICK, Firmware, Send
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.can.motor import CanMotor
from humanoid_twin.can.robstride_motor import RobstrideFirmware
from humanoid_twin.can.robstride_parameters import ROBSTRIDE_MODELS
from humanoid_twin.can.shaft import MotorShaft
from humanoid_twin.can.sito_motor import SitoFirmware
from humanoid_twin.can.sito_parameters import SITO_MODELS
from humanoid_twin.clock import Moment
from humanoid_twin.drive.parameters import Mounting
from humanoid_twin.drive.plant import Inertia, Plant, SingleInertias

_HIGHEST_ID: Final = 0xFF
Parameters = TypeVar("Parameters")


@dataclass(frozen=True, slots=True, kw_only=True)
class CanJoint:
    """One motor, how it is mounted, and the joint it moves."""

    index: int  # of the joint in the plant
    family: str  # "sito" or "robstride"
    model: str  # "TA40-50", "rs-03" ...
    mounting: Mounting = field(default_factory=Mounting)


class VirtualCan:
    """A bus and its motors, as a `Side` of the world: run, step, tick."""

    def __init__(self, bus: VirtualCanBus) -> None:
        self.bus = bus
        self.motors: list[CanMotor] = []
        self._flywheels: list[SingleInertias] = []  # that motors turn which aren't the robot's
        # A node that is on the bus only while it sends: it acknowledges nothing.
        self._stranger = bus.attach(lambda _frame, _now: None, queue_length=1000)
        self._stranger.acknowledges = False

    @property
    def next_event(self) -> int:
        """When the bus does something by itself [ns]."""
        return self.bus.next_event

    def run(self, now: int) -> None:
        """Let happen on the bus what happens until `now` [ns]."""
        self.bus.run(now)

    def step(self) -> None:
        """One millisecond of all motors' loops: they measure, and set their torques."""
        for motor in self.motors:
            motor.step()

    def tick(self) -> None:
        """The joints have moved."""
        for flywheel in self._flywheels:
            flywheel.step(TICK)

    def add(self, device: int, plant: Plant, joint: CanJoint) -> CanMotor:
        """Another motor. Raises CanError for an id or a model that there isn't."""
        if not 0 < device <= _HIGHEST_ID:
            raise CanError(f"CAN id {device}, expected 1 to {_HIGHEST_ID}")
        shaft = MotorShaft(plant, joint.index, joint.mounting)
        firmware = _firmware(device, joint.family, joint.model)
        motor = CanMotor(self.bus, shaft, firmware, joint.family, joint.model)
        self.motors.append(motor)
        return motor

    def add_unwanted(self, device: int, family: str, model: str) -> CanMotor:
        """A motor that isn't the robot's: it turns a flywheel of its own, 1 rad off."""
        flywheel = SingleInertias([Inertia(inertia=0.05, viscous=0.05)], [1.0])
        motor = self.add(device, flywheel, CanJoint(index=0, family=family, model=model))
        self._flywheels.append(flywheel)
        return motor

    def motor(self, device: int) -> CanMotor:
        """The motor with this id, the first of two. Raises CanError."""
        for motor in self.motors:
            if motor.firmware.device == device:
                return motor
        there_are = ", ".join(str(motor.firmware.device) for motor in self.motors)
        raise CanError(f"no motor {device} on the bus, there are {there_are}")

    def stray(self, frame: CanFrame) -> None:
        """A frame from nobody known. Raises CanError if it can't be sent."""
        if not self._stranger.send(frame, self.bus.now):
            raise CanError("the stranger's queue is full, or it is bus-off")


def build_can(
    plant: Plant, joints: Mapping[int, CanJoint], moment: Moment | None = None
) -> VirtualCan:
    """A bus with the motors of these joints by CAN id, powered up and disabled.

    `moment`: the time being dealt with, shared with the rest of the robot. Raises CanError for a
    family, model or id that there isn't.
    """
    can = VirtualCan(VirtualCanBus(moment))
    for device, joint in joints.items():
        can.add(device, plant, joint)
    return can


def _firmware(device: int, family: str, model: str) -> Callable[[Send], Firmware]:
    if family == "sito":
        sito = _known(SITO_MODELS, family, model)
        return lambda send: SitoFirmware(sito, device, send)
    if family == "robstride":
        robstride = _known(ROBSTRIDE_MODELS, family, model)
        return lambda send: RobstrideFirmware(robstride, device, send)
    raise CanError(f"no motor family '{family}', there are sito, robstride")


def _known(models: Mapping[str, Parameters], family: str, model: str) -> Parameters:
    if model not in models:
        raise CanError(f"{family} has no model '{model}', there are {', '.join(models)}")
    return models[model]
