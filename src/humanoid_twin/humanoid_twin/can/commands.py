"""Commands of the control channel about a CAN bus: faults and reports."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol, TypedDict

from humanoid_twin.can.adapters.lawicel import LawicelAdapter
from humanoid_twin.can.controller import CanController
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.can.motors.build import VirtualCan
from humanoid_twin.can.motors.motor import CanMotor, MotorReport
from humanoid_twin.can.motors.motor_board import BoardReport
from humanoid_twin.control import arguments
from humanoid_twin.errors import CanError


class CanStatistics(TypedDict):
    """Counts since the start; the load between two calls is Δbusy / Δtime."""

    time: float  # [s]
    busy: float  # [s] that the bus was not idle, intermissions included
    frames: int  # that got through
    error_frames: int  # attempts destroyed on the wire
    unacknowledged: int  # attempts without an acknowledgement
    lost: int  # frames lost in the receivers' buffers
    adapter_state: str
    adapter_tec: int
    adapter_rec: int
    adapter_waiting: int  # frames in the adapter's queue
    adapter_sent: int  # frames of the adapter that got through


class HostAdapter(Protocol):
    """The host's end of the bus."""

    @property
    def controller(self) -> CanController:
        """The adapter's node."""

    @property
    def serial(self) -> LawicelAdapter | None:
        """The adapter behind a serial line; None for an adapter of another kind."""

    def unplug(self) -> None:
        """Pull the adapter out of its socket."""

    def plug_in(self) -> None:
        """Plug the adapter in again."""


@dataclass(frozen=True, slots=True)
class CanCommands:
    """Methods with JSON arguments and results, for motors by CAN id.

    All raise TwinError for impossible arguments and unknown motors.
    """

    can: VirtualCan
    adapter: HostAdapter

    def power_off(self, id: int | None = None) -> None:
        """Cut the power of a motor, or of all: no torque, no answer, no acknowledgement."""
        for motor in self._motors(id):
            motor.power(False)

    def power_on(self, id: int | None = None) -> None:
        """Restore the power of a motor, or of all: disabled, factory gains."""
        for motor in self._motors(id):
            motor.power(True)

    def cut(self, id: int | None = None) -> None:
        """Cut the cable of a motor, or of all: it keeps power and torque, and its last command."""
        for motor in self._motors(id):
            motor.connect(False)

    def mend(self, id: int | None = None) -> None:
        """Mend the cable of a motor, or of all."""
        for motor in self._motors(id):
            motor.connect(True)

    def delay_enable(self, id: int, seconds: float) -> None:
        """Make enabling take a time [s] from now on."""
        self.can.motor(id).firmware.enable_time = arguments.duration(seconds, "time to enable")

    def freeze(self, id: int, frozen: bool = True) -> None:
        """Stop the firmware, or let it run again.

        Frames are acknowledged and not answered, and the torque stays as it is.
        """
        self.can.motor(id).frozen = bool(frozen)

    def ignore_frames(self, id: int, ignores: bool = True) -> None:
        """Make a motor ignore all frames, or follow them again, until it is switched off.

        It acknowledges them, and sends its state as it was requested before.
        """
        self.can.motor(id).ignores_frames = bool(ignores)

    def overheat(self, id: int, celsius: float) -> None:
        """Set the temperature of the winding [°C]."""
        self.can.motor(id).firmware.temperature = arguments.bounded(celsius, "temperature")

    def motor_fault(self, id: int, bits: int) -> None:
        """Raise faults (Robstride: bits of the fault report); the motor disables itself."""
        self.can.motor(id).firmware.fault(arguments.whole(bits, "fault bits", 1, 0xFFFFFFFF))

    def drop(self, probability: float, seed: int = 0) -> None:
        """Lose frames at random in their receivers' buffers; they are acknowledged before."""
        disturbance = self.can.bus.disturbance
        disturbance.lost_probability = arguments.probability(probability)
        disturbance.random = Random(seed)

    def late(self, probability: float, seconds: float) -> None:
        """Delay frames [s] at random in their receivers' buffers; they are acknowledged before."""
        lateness = arguments.duration(seconds, "lateness")
        disturbance = self.can.bus.disturbance
        disturbance.late_probability = arguments.probability(probability)
        disturbance.lateness = round(lateness * 1e9)

    def hold_up(self, seconds: float) -> None:
        """Hold the adapter up for a time [s]: all that it sends and receives comes afterwards."""
        lasts = arguments.duration(seconds, "hold-up")
        self.adapter.controller.hold_up(self.can.bus.now + round(lasts * 1e9))

    def double(self, probability: float) -> None:
        """Deliver frames twice at random."""
        self.can.bus.disturbance.double_probability = arguments.probability(probability)

    def corrupt_next(self, count: int) -> None:
        """Destroy the next frames on the wire; their senders repeat them."""
        self.can.bus.disturbance.corrupt_next = arguments.count(count, "number of frames")

    def bus_off(self) -> None:
        """Put the host's adapter into bus-off; it recovers in the way of its kind."""
        self.adapter.controller.go_bus_off(self.can.bus.now)

    def bitrate(self, value: int) -> None:
        """Set the bit rate of all motors [bit/s]."""
        rate = arguments.whole(value, "bit rate", 10_000, 1_000_000)
        for motor in self.can.motors:
            motor.controller.set(bitrate=rate)

    def change_id(self, id: int, new: int) -> None:
        """Give a motor another id."""
        self.can.motor(id).firmware.device = arguments.whole(new, "CAN id", 1, 0xFF)

    def duplicate(self, id: int) -> None:
        """Attach a second motor with the same id; it turns a flywheel."""
        motor = self.can.motor(id)
        self.can.add_foreign(id, motor.family, motor.model)

    def foreign(self, id: int, family: str, model: str) -> None:
        """Attach a motor that isn't the robot's; it turns a flywheel."""
        self.can.add_foreign(id, family, model)

    def unplug(self) -> None:
        """Pull the host's adapter out of its socket."""
        self.adapter.unplug()

    def plug_in(self) -> None:
        """Plug the host's adapter in again."""
        self.adapter.plug_in()

    def flags(self, offered: bool) -> None:
        """Set whether a serial adapter has status flags, from the next opening on.

        One without them answers the command F with BEL, as simple slcan firmware does.
        """
        self._serial.offers_flags = bool(offered)

    def lose_bytes(self, probability: float, seed: int = 0) -> None:
        """Lose bytes of a serial line at random, in both directions."""
        faults = self._serial.faults
        faults.lost_probability = arguments.probability(probability)
        faults.random = Random(seed)

    def insert_bytes(self, probability: float, seed: int = 0) -> None:
        """Insert random bytes into a serial line at random, in both directions."""
        faults = self._serial.faults
        faults.inserted_probability = arguments.probability(probability)
        faults.random = Random(seed)

    def cut_bytes(self, count: int, seed: int = 0) -> None:
        """Lose up to `count` bytes in a row of the next transfer on a serial line."""
        faults = self._serial.faults
        faults.cut = arguments.count(count, "number of bytes")
        faults.random = Random(seed)

    def leave_unanswered(self, letters: str = "", probability: float = 0.0, seed: int = 0) -> None:
        """Leave a serial adapter's commands with these letters unanswered, and frames at random."""
        faults = self._serial.faults
        faults.unanswered = letters.encode("ascii")
        faults.unanswered_probability = arguments.probability(probability)
        faults.random = Random(seed)

    def stray(self, identifier: int, data: bytes | str, extended: bool = True) -> None:
        """Send a frame from an unknown node; `data`: bytes, or their hexadecimal digits."""
        content = bytes.fromhex(data) if isinstance(data, str) else data
        self.can.stray(CanFrame(int(identifier), content, bool(extended)))

    def drives(self) -> list[MotorReport]:
        """Return the state of all motors."""
        return [motor.report() for motor in self.can.motors]

    def boards(self) -> list[BoardReport]:
        """Return rate and latency of all motor boards with an inner force loop."""
        return self.can.boards()

    def statistics(self) -> CanStatistics:
        """Return counts since the start, and the adapter's error counters."""
        bus, adapter = self.can.bus, self.adapter.controller
        counters = bus.settled_counters()
        return CanStatistics(
            time=bus.now / 1e9,
            busy=counters.busy / 1e9,
            frames=counters.frames,
            error_frames=counters.error_frames,
            unacknowledged=counters.unacknowledged,
            lost=counters.lost,
            adapter_state=adapter.state.value,
            adapter_tec=adapter.tec,
            adapter_rec=adapter.rec,
            adapter_waiting=adapter.waiting,
            adapter_sent=adapter.frames_sent,
        )

    @property
    def _serial(self) -> LawicelAdapter:
        if self.adapter.serial is None:
            raise CanError("the adapter is no serial one: only these have lines and status flags")
        return self.adapter.serial

    def _motors(self, id: int | None) -> Sequence[CanMotor]:
        return tuple(self.can.motors) if id is None else [self.can.motor(id)]
