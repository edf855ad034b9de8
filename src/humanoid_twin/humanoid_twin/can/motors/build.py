"""All motors of a CAN bus and their joints: one bus of the virtual robot."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.can.motors.families import build_firmware
from humanoid_twin.can.motors.firmware import TICK, Firmware, Send
from humanoid_twin.can.motors.force_loop import BoardFigures
from humanoid_twin.can.motors.motor import CanMotor
from humanoid_twin.can.motors.motor_board import (
    BoardReport,
    EncoderFirmware,
    EncoderShaft,
    MotorBoardFirmware,
    TendonShaft,
)
from humanoid_twin.can.motors.robstride_parameters import ROBSTRIDE_MODELS
from humanoid_twin.clock import SimulatedTime
from humanoid_twin.errors import CanError
from humanoid_twin.mounting import MountedEncoder, Mounting
from humanoid_twin.physics.plant import Inertia, Plant, SingleInertias


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A motor board on a tendon: its family is that of the protocol, Robstride."""

    figures: BoardFigures
    others: tuple[int, ...] = ()  # joints that the tendon runs over besides the motor's own


@dataclass(frozen=True, slots=True, kw_only=True)
class CanJoint:
    """One motor, how it is mounted, and the joint it moves."""

    index: int  # of the joint in the plant
    family: str  # of MOTOR_FAMILIES
    model: str  # "TA40-50", "rs-03" ...
    mounting: Mounting = field(default_factory=Mounting)
    board: Board | None = None  # the motor turns the joint itself
    motorless: bool = False  # the tendon of another board turns the joint


class VirtualCan:
    """A bus and its motors, as a `SimulatedBus` of the scheduler."""

    def __init__(self, bus: VirtualCanBus) -> None:
        self.bus = bus
        self.motors: list[CanMotor] = []
        self._flywheels: list[SingleInertias] = []  # turned by motors that aren't the robot's
        # It is on the bus only while it sends: it acknowledges nothing.
        self._foreign_node = bus.attach(lambda _frame, _now: None, queue_length=1000)
        self._foreign_node.acknowledges = False

    @property
    def next_event(self) -> int:
        """See SimulatedBus."""
        return self.bus.next_event

    def run(self, now: int) -> None:
        """See SimulatedBus."""
        self.bus.run(now)

    def step(self) -> None:
        """See SimulatedBus."""
        for motor in self.motors:
            motor.step()

    def tick(self) -> None:
        """See SimulatedBus."""
        for flywheel in self._flywheels:
            flywheel.step(TICK)

    def add(self, device: int, plant: Plant, joint: CanJoint) -> CanMotor:
        """Add a motor. Raises CanError for an id out of range, an unknown family or model."""
        firmware = build_firmware(joint.family, joint.model, device)
        shaft = MountedEncoder(plant, joint.index, joint.mounting)
        if joint.board is not None:
            shaft, firmware = self._board(device, plant, joint, joint.board)
        elif joint.motorless:
            shaft = EncoderShaft(plant, joint.index, joint.mounting)
            parameters = ROBSTRIDE_MODELS[joint.model]
            firmware = partial(EncoderFirmware, parameters, device)
        motor = CanMotor(self.bus, shaft, firmware, joint.family, joint.model)
        self.motors.append(motor)
        return motor

    def _board(
        self, device: int, plant: Plant, joint: CanJoint, board: Board
    ) -> tuple[MountedEncoder, Callable[[Send], Firmware]]:
        shaft = TendonShaft(plant, joint.index, joint.mounting, board.others)
        parameters = ROBSTRIDE_MODELS[joint.model]

        def firmware(send: Send) -> Firmware:
            return MotorBoardFirmware(
                parameters, device, send, board.figures, shaft, self.bus.simulated_time
            )

        return shaft, firmware

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

    def boards(self) -> list[BoardReport]:
        """Return rate and latency of all motor boards."""
        firmwares = [motor.firmware for motor in self.motors]
        return [it.board_report() for it in firmwares if isinstance(it, MotorBoardFirmware)]

    def stray(self, frame: CanFrame) -> None:
        """Send a frame from an unknown node. Raises CanError if it can't be sent."""
        if not self._foreign_node.send(frame, self.bus.now):
            raise CanError("the stranger's queue is full, or it is bus-off")


def build_can(
    plant: Plant, joints: Mapping[int, CanJoint], simulated_time: SimulatedTime | None = None
) -> VirtualCan:
    """Return a bus with the motors of joints by CAN id, powered up and disabled.

    `simulated_time`: the robot's time, shared with its other units. Raises CanError for an unknown
    family or model, or an id out of range.
    """
    can = VirtualCan(VirtualCanBus(simulated_time))
    for device, joint in joints.items():
        can.add(device, plant, joint)
    return can
