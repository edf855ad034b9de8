"""The client of a CAN bus' control channel."""

from humanoid_twin.can.motor import MotorReport
from humanoid_twin.can.statistics import CanStatistics
from humanoid_twin.control.client import ControlClient, TimedControl


class CanMethods(ControlClient):
    """What a process with a CAN bus can be asked about it. Motors are told by CAN id.

    All methods raise TwinError if the process refuses, or is gone.
    """

    def can_power_off(self, id: int | None = None) -> None:
        """Take the power of a motor away, or of all: no torque, no answer, no acknowledgement."""
        self._ask("can_power_off", id=id)

    def can_power_on(self, id: int | None = None) -> None:
        """Give it back: disabled, factory gains."""
        self._ask("can_power_on", id=id)

    def can_delay_enable(self, id: int, seconds: float) -> None:
        """Enabling takes that long from now on [s]."""
        self._ask("can_delay_enable", id=id, seconds=seconds)

    def can_freeze(self, id: int, frozen: bool = True) -> None:
        """The firmware hangs (or runs again): frames are acknowledged and not answered."""
        self._ask("can_freeze", id=id, frozen=frozen)

    def can_overheat(self, id: int, celsius: float) -> None:
        """The winding has this temperature from now on [°C]."""
        self._ask("can_overheat", id=id, celsius=celsius)

    def can_motor_fault(self, id: int, bits: int) -> None:
        """The motor finds faults (Robstride: bits of the fault report) and disables itself."""
        self._ask("can_motor_fault", id=id, bits=bits)

    def can_drop(self, probability: float, seed: int = 0) -> None:
        """Lose frames at random from now on: acknowledged, but not received."""
        self._ask("can_drop", probability=probability, seed=seed)

    def can_late(self, probability: float, seconds: float) -> None:
        """Hold frames up [s] in their receivers' buffers at random from now on."""
        self._ask("can_late", probability=probability, seconds=seconds)

    def can_double(self, probability: float) -> None:
        """Have frames received twice at random from now on."""
        self._ask("can_double", probability=probability)

    def can_corrupt_next(self, count: int) -> None:
        """Destroy the next frames on the wire; their senders repeat them."""
        self._ask("can_corrupt_next", count=count)

    def can_bus_off(self) -> None:
        """The host's adapter goes bus-off; how it gets out is the adapter's way."""
        self._ask("can_bus_off")

    def can_bitrate(self, value: int) -> None:
        """All motors use this bit rate [bit/s] from now on."""
        self._ask("can_bitrate", value=value)

    def can_change_id(self, id: int, new: int) -> None:
        """The motor answers to another id."""
        self._ask("can_change_id", id=id, new=new)

    def can_duplicate(self, id: int) -> None:
        """A second motor with the same id comes to the bus; it turns a flywheel."""
        self._ask("can_duplicate", id=id)

    def can_foreign(self, id: int, family: str, model: str) -> None:
        """A motor that isn't the robot's comes to the bus; it turns a flywheel."""
        self._ask("can_foreign", id=id, family=family, model=model)

    def can_unplug(self) -> None:
        """Pull the host's adapter out of its socket."""
        self._ask("can_unplug")

    def can_plug_in(self) -> None:
        """Put it back."""
        self._ask("can_plug_in")

    def can_flags(self, told: bool) -> None:
        """Whether a serial adapter tells its status flags, from the next opening on."""
        self._ask("can_flags", told=told)

    def can_stray(self, identifier: int, data: bytes, extended: bool = True) -> None:
        """A frame of nobody known comes over the bus."""
        self._ask("can_stray", identifier=identifier, data=data.hex(), extended=extended)

    def can_drives(self) -> dict[int, MotorReport]:
        """The state of all motors by id; of two with one id, that of the first."""
        found: dict[int, MotorReport] = {}
        for report in self._ask("can_drives"):
            found.setdefault(report["id"], report)
        return found

    def can_statistics(self) -> CanStatistics:
        """Counts since the start, and the adapter's error counters."""
        statistics: CanStatistics = self._ask("can_statistics")
        return statistics


class CanControl(TimedControl, CanMethods):
    """Asks a CAN bus that runs alone."""
