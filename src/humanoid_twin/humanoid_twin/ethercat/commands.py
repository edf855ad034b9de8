"""What the control channel of a ring can be asked for: fault injection, loads, reports."""

from dataclasses import dataclass, replace

from humanoid_twin.ethercat.errors import RingError
from humanoid_twin.ethercat.firmware import Physics
from humanoid_twin.ethercat.log import LogLine
from humanoid_twin.ethercat.losses import Fate, Losses
from humanoid_twin.ethercat.report import DriveReport, Statistics
from humanoid_twin.ethercat.reporting import report_drive, report_statistics
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.ethercat.slave import Slave


@dataclass(frozen=True, slots=True)
class RingCommands:
    """The commands, as methods with JSON arguments. Slaves are told by ring position, from 0."""

    ring: VirtualRing
    plant: Physics  # joint k is that of drive k
    losses: Losses

    def mailbox_delay(self, seconds: float, slave: int | None = None) -> None:
        """From an SDO request to its answer [s]; inf: never; slave None: all."""
        if not seconds >= 0:
            raise RingError(f"mailbox delay {seconds} s, expected 0 or more")
        for one in self.ring.line.slaves if slave is None else [self._slave(slave)]:
            one.mailbox.delay = seconds * 1e9

    def drop(self, probability: float) -> None:
        """Lose frames at random from now on."""
        self.losses.probability = _probability(probability)

    def damage(self, probability: float) -> None:
        """Damage frames at random on their way from now on."""
        self.losses.others[Fate.DAMAGED] = _probability(probability)

    def late(self, probability: float, seconds: float) -> None:
        """Answer frames late [s] at random from now on."""
        self.losses.lateness = float(seconds)
        self.losses.others[Fate.LATE] = _probability(probability)

    def double(self, probability: float) -> None:
        """Answer frames twice at random from now on."""
        self.losses.others[Fate.DOUBLED] = _probability(probability)

    def overtake(self, probability: float) -> None:
        """Answer frames after the next one at random from now on."""
        self.losses.others[Fate.OVERTAKEN] = _probability(probability)

    def miscount(self, probability: float) -> None:
        """Have one slave too few count process data, at random from now on."""
        self.losses.others[Fate.MISCOUNTED] = _probability(probability)

    def drop_next(self, count: int) -> None:
        """Lose the next frames before they reach a slave."""
        self.losses.lost_next = int(count)

    def late_next(self, count: int, seconds: float) -> None:
        """Answer the next frames late [s]."""
        self.losses.late_next, self.losses.lateness = int(count), float(seconds)

    def cut(self, after_slave: int) -> None:
        """Cut the cable behind a slave; -1: before the first."""
        if after_slave != -1:
            self._slave(after_slave)
        self.ring.line.cut(after_slave)
        self.ring.changed()

    def mend(self) -> None:
        """Mend the cable."""
        self.ring.line.cut(None)
        self.ring.changed()

    def power_off(self, slave: int) -> None:
        """Slave without power: those behind it aren't reached either."""
        self._power(slave, False)

    def power_on(self, slave: int) -> None:
        """Power is back: INIT, no station address, gate 0."""
        self._power(slave, True)

    def power_cycle(self, slave: int) -> None:
        """Off and on between two frames."""
        self._power(slave, False)
        self._power(slave, True)

    def freeze_firmware(self, slave: int, frozen: bool = True) -> None:
        """The firmware hangs: the ESC answers, nothing behind it does."""
        self._slave(slave).freeze(bool(frozen))

    def drive_error(self, slave: int, code: int) -> None:
        """The drive finds an error of 0x603F."""
        one = self._slave(slave)
        one.firmware.raise_error(int(code))
        one.process.sample()

    def keep_mode(self, slave: int, mode: int) -> None:
        """The drive is in a mode and takes no other."""
        self._slave(slave).firmware.keep_mode(int(mode))

    def weaken_battery(self, slave: int) -> None:
        """The drive's encoder forgets its turns at the next power-up."""
        self._slave(slave).firmware.weaken_battery()

    def change_battery(self, slave: int) -> None:
        """The drive's encoder gets a new battery."""
        self._slave(slave).firmware.change_battery()

    def emergency(self, slave: int, code: int) -> None:
        """The slave sends an emergency message on its own."""
        self._slave(slave).emergency(int(code))

    def dc_off(self, slave: int) -> None:
        """SYNC0 of a slave stops."""
        self._slave(slave).clock.switch_off()

    def swap(self, a: int, b: int) -> None:
        """Two slaves change places on the cable."""
        self._slave(a), self._slave(b)
        self.ring.line.swap(a, b)
        self.ring.changed()

    def identity(self, slave: int, vendor: int, product: int) -> None:
        """The slave says it is another device."""
        one = self._slave(slave)
        changed = replace(one.identification.identity, vendor=int(vendor), product=int(product))
        one.identify(changed)

    def set_joint(self, slave: int, position: float, velocity: float) -> None:
        """Put the joint of a slave's drive somewhere [rad, rad/s]."""
        self.plant.set_state(self._joint(slave), float(position), float(velocity))

    def external_torque(self, slave: int, torque: float) -> None:
        """Load the joint of a slave's drive from outside [Nm]."""
        self.plant.set_external_torque(self._joint(slave), float(torque))

    def drives(self) -> list[DriveReport]:
        """The state of all drives, in ring order."""
        return [
            report_drive(slave, self.plant, self.ring.slaves.index(slave))
            for slave in self.ring.line.slaves
        ]

    def statistics(self) -> Statistics:
        """Counts since the start."""
        return report_statistics(self.ring, self.losses)

    def log(self) -> list[LogLine]:
        """What has happened since the last call."""
        return self.ring.log.take()

    def _slave(self, position: int) -> Slave:
        slaves = self.ring.line.slaves
        if not (isinstance(position, int) and 0 <= position < len(slaves)):
            raise RingError(f"no slave {position}, the ring has 0 to {len(slaves) - 1}")
        return slaves[position]

    def _joint(self, position: int) -> int:
        return self.ring.slaves.index(self._slave(position))

    def _power(self, position: int, on: bool) -> None:
        self._slave(position).power(on)
        self.ring.line.update()
        self.ring.changed()


def _probability(value: float) -> float:
    if not 0 <= value <= 1:
        raise RingError(f"probability {value}, expected 0 to 1")
    return float(value)
