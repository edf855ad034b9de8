"""What the control channel can ask of the CAN bus: fault injection and reports."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Protocol

from humanoid_twin.can.controller import CanController
from humanoid_twin.can.errors import CanError
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.can.motor import CanMotor, MotorReport
from humanoid_twin.can.robot import VirtualCan
from humanoid_twin.can.slcan import SlcanPort
from humanoid_twin.can.statistics import CanStatistics


class Adapter(Protocol):
    """The host's end of the bus."""

    @property
    def controller(self) -> CanController:
        """Its node."""

    def unplug(self) -> None:
        """Pull it out of the host."""

    def plug_in(self) -> None:
        """Put it back."""


@dataclass(frozen=True, slots=True)
class CanCommands:
    """The commands, as methods with JSON arguments. Motors are told by CAN id.

    All raise CanError for what can't be.
    """

    can: VirtualCan
    adapter: Adapter

    def power_off(self, id: int | None = None) -> None:
        """Motor without power, or all: no torque, no answer, no acknowledgement."""
        for motor in self._motors(id):
            motor.power(False)

    def power_on(self, id: int | None = None) -> None:
        """Power is back: disabled, factory gains."""
        for motor in self._motors(id):
            motor.power(True)

    def delay_enable(self, id: int, seconds: float) -> None:
        """Enabling takes that long from now on [s]."""
        if not 0 <= seconds < math.inf:
            raise CanError(f"enabling can't take {seconds} s")
        self.can.motor(id).firmware.enable_time = float(seconds)

    def freeze(self, id: int, frozen: bool = True) -> None:
        """The firmware hangs: frames are acknowledged and not answered, torque stays as it is."""
        self.can.motor(id).frozen = bool(frozen)

    def overheat(self, id: int, celsius: float) -> None:
        """The winding has this temperature from now on [°C]."""
        if not math.isfinite(celsius):
            raise CanError(f"{celsius} is no temperature")
        self.can.motor(id).firmware.temperature = float(celsius)

    def motor_fault(self, id: int, bits: int) -> None:
        """The motor finds faults (Robstride: bits of the fault report) and disables itself."""
        if not 0 < bits < 1 << 32:
            raise CanError(f"fault bits {bits}, expected 1 to 2**32 - 1")
        self.can.motor(id).firmware.fault(int(bits))

    def drop(self, probability: float, seed: int = 0) -> None:
        """Frames are acknowledged and then lost in their receivers' buffers, at random."""
        if not 0 <= probability <= 1:
            raise CanError(f"probability {probability}, expected 0 to 1")
        disturbance = self.can.bus.disturbance
        disturbance.lost_probability, disturbance.random = float(probability), Random(seed)

    def late(self, probability: float, seconds: float) -> None:
        """Frames are acknowledged and then held up [s] in their receivers' buffers, at random."""
        if not (0 <= probability <= 1 and 0 <= seconds < math.inf):
            raise CanError(f"late by {seconds} s with probability {probability}: can't be")
        disturbance = self.can.bus.disturbance
        disturbance.late_probability, disturbance.lateness = (
            float(probability),
            round(seconds * 1e9),
        )

    def double(self, probability: float) -> None:
        """Frames are received twice, at random."""
        if not 0 <= probability <= 1:
            raise CanError(f"probability {probability}, expected 0 to 1")
        self.can.bus.disturbance.double_probability = float(probability)

    def corrupt_next(self, count: int) -> None:
        """Destroy the next frames on the wire; their senders repeat them."""
        self.can.bus.disturbance.corrupt_next = int(count)

    def bus_off(self) -> None:
        """The host's adapter goes bus-off; how it gets out is the adapter's way."""
        self.adapter.controller.go_bus_off(self.can.bus.now)

    def bitrate(self, value: int) -> None:
        """All motors use this bit rate [bit/s] from now on."""
        if not 10_000 <= value <= 1_000_000:
            raise CanError(f"bit rate {value}, expected 10000 to 1000000")
        for motor in self.can.motors:
            motor.controller.set(bitrate=int(value))

    def change_id(self, id: int, new: int) -> None:
        """The motor answers to another id."""
        if not 0 < new <= 0xFF:
            raise CanError(f"CAN id {new}, expected 1 to 255")
        self.can.motor(id).firmware.device = int(new)

    def duplicate(self, id: int) -> None:
        """A second motor with the same id comes to the bus; it turns a flywheel."""
        motor = self.can.motor(id)
        self.can.add_unwanted(id, motor.family, motor.model)

    def foreign(self, id: int, family: str, model: str) -> None:
        """A motor that isn't the robot's comes to the bus; it turns a flywheel."""
        self.can.add_unwanted(id, family, model)

    def unplug(self) -> None:
        """The host's adapter is pulled out of its socket."""
        self.adapter.unplug()

    def plug_in(self) -> None:
        """It is put back."""
        self.adapter.plug_in()

    def flags(self, told: bool) -> None:
        """Whether a serial adapter tells its status flags, from the next opening on.

        One that doesn't answers the question (F) with BEL, as simple slcan firmware does.
        """
        if not isinstance(self.adapter, SlcanPort):
            raise CanError("the adapter is no serial one: only these have flags to tell")
        self.adapter.tell_flags(bool(told))

    def stray(self, identifier: int, data: str, extended: bool = True) -> None:
        """A frame of nobody known; `data` in hexadecimal digits."""
        self.can.stray(CanFrame(int(identifier), bytes.fromhex(data), bool(extended)))

    def drives(self) -> list[MotorReport]:
        """The state of all motors."""
        return [motor.report() for motor in self.can.motors]

    def statistics(self) -> CanStatistics:
        """Counts since the start, and the adapter's error counters."""
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
        )

    def _motors(self, id: int | None) -> Sequence[CanMotor]:
        return tuple(self.can.motors) if id is None else [self.can.motor(id)]
