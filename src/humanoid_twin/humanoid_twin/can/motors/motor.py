"""A motor: a board with a CAN controller and a firmware, on a shaft."""

from collections.abc import Callable
from typing import Final, TypedDict

from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.can.motors.firmware import Firmware, FirmwareReport, Send
from humanoid_twin.mounting import MountedEncoder

MAILBOXES: Final = 3  # of the controller on the board (bxCAN of an STM32; assumed)


class MotorReport(TypedDict):
    """The state of one motor: raw values at its own output, the joint's as in the plant."""

    id: int
    family: str
    model: str
    powered: bool
    frozen: bool
    firmware: FirmwareReport
    temperature: float  # [°C]
    position: float  # [rad]
    velocity: float  # [rad/s]
    torque: float  # [Nm]
    joint_position: float  # [rad]
    joint_velocity: float  # [rad/s]
    state: str  # of its CAN controller
    tec: int
    rec: int


class CanMotor:
    """The part that all families share: power, a clock that may stop, a node of the bus."""

    def __init__(
        self,
        bus: VirtualCanBus,
        shaft: MountedEncoder,
        firmware: Callable[[Send], Firmware],
        family: str,
        model: str,
    ) -> None:
        """Switch on. `firmware` makes the firmware around a function that sends its frames."""
        self._bus = bus
        self.shaft = shaft
        self.family, self.model = family, model
        self.controller = bus.attach(self._receive, queue_length=MAILBOXES)
        self.frozen = False  # see CanCommands.freeze
        self.ignores_frames = False  # see CanCommands.ignore_frames
        self._powered = self._connected = True
        self._torque = 0.0  # [Nm]
        self.firmware = firmware(self._send)
        self.firmware.boot()

    @property
    def powered(self) -> bool:
        """True if it has power."""
        return self._powered

    def step(self) -> None:
        """Run one millisecond of the firmware's loop, with the present shaft."""
        if not self._powered or self.frozen:
            return  # a firmware that hangs leaves the torque as it is
        position, velocity = self.shaft.measure()
        torque = self.firmware.tick(position, velocity)
        if torque != self._torque:
            self._turn(torque)

    def power(self, on: bool) -> None:
        """Switch on or off. Off: no torque, no acknowledgement, volatile state lost."""
        if on == self.powered:
            return
        self._powered = on
        self.controller.set(powered=on and self._connected)
        if on:
            self.frozen = self.ignores_frames = False
            self.firmware.boot()
        else:
            self._turn(0.0)

    def connect(self, connected: bool) -> None:
        """Join the bus, or leave it: the firmware goes on without frames."""
        self._connected = connected
        self.controller.set(powered=connected and self._powered)

    def spring(self) -> tuple[float, float]:
        """Return the present stiffness [Nm/rad] and its share of the torque at the output [Nm]."""
        if not self._powered:
            return 0.0, 0.0
        stiffness, target = self.firmware.spring()
        return stiffness, stiffness * (target - self.shaft.position())

    def report(self) -> MotorReport:
        """Return the state for the control channel."""
        raw_position, raw_velocity = self.shaft.measure()
        position, velocity = self.shaft.truth()
        return MotorReport(
            id=self.firmware.device,
            family=self.family,
            model=self.model,
            powered=self.powered,
            frozen=self.frozen,
            firmware=self.firmware.report(),
            temperature=self.firmware.temperature,
            position=raw_position,
            velocity=raw_velocity,
            torque=self._torque,
            joint_position=position,
            joint_velocity=velocity,
            state=self.controller.state.value,
            tec=self.controller.tec,
            rec=self.controller.rec,
        )

    def _turn(self, torque: float) -> None:
        self._torque = torque
        self.shaft.turn(torque)

    def _receive(self, frame: CanFrame, now: int) -> None:
        del now
        if self.frozen or self.ignores_frames or frame.requested is not None:
            return
        firmware = self.firmware
        if frame.extended == firmware.extended and firmware.accepts(frame.identifier):
            firmware.handle(frame)

    def _send(self, identifier: int, payload: bytes) -> bool:
        frame = CanFrame(identifier, payload, self.firmware.extended)
        return self.controller.send(frame, self._bus.now)
