"""The client of a ring's control channel."""

from typing import ClassVar

from humanoid_twin.control.client import TimedControl
from humanoid_twin.errors import TwinError
from humanoid_twin.ethercat.errors import RingError
from humanoid_twin.ethercat.log import LogLine
from humanoid_twin.ethercat.report import DriveReport, Statistics


class RingControl(TimedControl):
    """Asks one ring. Slaves are told by ring position, from 0.

    All methods raise RingError if the ring refuses, or is gone. Not for several threads at once.
    """

    who: ClassVar[str] = "ring"
    error: ClassVar[type[TwinError]] = RingError

    def mailbox_delay(self, seconds: float, slave: int | None = None) -> None:
        """From an SDO request to its answer [s]; inf: never. All slaves, or one."""
        self._ask("mailbox_delay", seconds=seconds, slave=slave)

    def drop(self, probability: float) -> None:
        """Lose frames at random from now on; half of them reach the slaves."""
        self._ask("drop", probability=probability)

    def damage(self, probability: float) -> None:
        """Damage frames at random from now on: nobody behind the place takes them."""
        self._ask("damage", probability=probability)

    def late(self, probability: float, seconds: float) -> None:
        """Answer frames late [s] at random from now on."""
        self._ask("late", probability=probability, seconds=seconds)

    def double(self, probability: float) -> None:
        """Answer frames twice at random from now on."""
        self._ask("double", probability=probability)

    def overtake(self, probability: float) -> None:
        """Answer frames after the next one at random from now on."""
        self._ask("overtake", probability=probability)

    def miscount(self, probability: float) -> None:
        """Have one slave too few count process data, at random from now on."""
        self._ask("miscount", probability=probability)

    def drop_next(self, count: int) -> None:
        """Lose the next frames before they reach a slave."""
        self._ask("drop_next", count=count)

    def late_next(self, count: int, seconds: float) -> None:
        """Answer the next frames late [s]."""
        self._ask("late_next", count=count, seconds=seconds)

    def cut(self, after_slave: int) -> None:
        """Cut the cable behind a slave; -1: before the first."""
        self._ask("cut", after_slave=after_slave)

    def mend(self) -> None:
        """Mend the cable."""
        self._ask("mend")

    def power_off(self, slave: int) -> None:
        """Take a slave's power away: those behind it aren't reached either."""
        self._ask("power_off", slave=slave)

    def power_on(self, slave: int) -> None:
        """Give it back: INIT, no station address, gate 0."""
        self._ask("power_on", slave=slave)

    def power_cycle(self, slave: int) -> None:
        """Off and on between two frames."""
        self._ask("power_cycle", slave=slave)

    def freeze_firmware(self, slave: int, frozen: bool = True) -> None:
        """The firmware hangs (or runs again): the ESC answers, nothing behind it does."""
        self._ask("freeze_firmware", slave=slave, frozen=frozen)

    def drive_error(self, slave: int, code: int) -> None:
        """The drive finds the error `code` of 0x603F."""
        self._ask("drive_error", slave=slave, code=code)

    def keep_mode(self, slave: int, mode: int) -> None:
        """The drive is in a mode of 0x6061 and takes no other, until it is without power."""
        self._ask("keep_mode", slave=slave, mode=mode)

    def weaken_battery(self, slave: int) -> None:
        """The encoder knows its angle within a turn only, from the next power-up on."""
        self._ask("weaken_battery", slave=slave)

    def change_battery(self, slave: int) -> None:
        """The encoder gets a new battery: a fault reset clears the error 0x730F from now on."""
        self._ask("change_battery", slave=slave)

    def emergency(self, slave: int, code: int) -> None:
        """The slave sends an emergency message on its own."""
        self._ask("emergency", slave=slave, code=code)

    def dc_off(self, slave: int) -> None:
        """SYNC0 of a slave stops."""
        self._ask("dc_off", slave=slave)

    def swap(self, a: int, b: int) -> None:
        """Two slaves change places on the cable; their joints go with them."""
        self._ask("swap", a=a, b=b)

    def identity(self, slave: int, vendor: int, product: int) -> None:
        """The slave says it is another device."""
        self._ask("identity", slave=slave, vendor=vendor, product=product)

    def set_joint(self, slave: int, position: float, velocity: float = 0.0) -> None:
        """Put the joint of a slave's drive somewhere [rad, rad/s], in the plant's frame."""
        self._ask("set_joint", slave=slave, position=position, velocity=velocity)

    def external_torque(self, slave: int, torque: float) -> None:
        """Load the joint of a slave's drive from outside [Nm], until told otherwise."""
        self._ask("external_torque", slave=slave, torque=torque)

    def drives(self) -> list[DriveReport]:
        """The state of all drives, in ring order."""
        reports: list[DriveReport] = self._ask("drives")
        return reports

    def statistics(self) -> Statistics:
        """Counts since the start."""
        statistics: Statistics = self._ask("statistics")
        return statistics

    def log(self) -> list[LogLine]:
        """What has happened since the last call: (ring time [s], slave, kind, detail).

        Kinds: "request" (a mailbox message has arrived: service, command, index, subindex), "read"
        and "write" (an object was accessed: index, subindex, value, complete, abort), "state" (AL:
        state, error, code), "fault" (a communication error: reason). The latest 10 000 lines are
        kept: if there were more, the first line is "dropped" (lines).
        """
        return [
            (float(time), int(slave), str(kind), detail)
            for time, slave, kind, detail in self._ask("log")
        ]
