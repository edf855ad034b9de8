"""Commands of the control channel about a ring: faults, loads and reports."""

from dataclasses import dataclass, replace
from typing import TypedDict

from humanoid_devices_erob.protocol import objects
from humanoid_twin.control import arguments
from humanoid_twin.errors import RingError
from humanoid_twin.ethercat.coe.dictionary import ObjectDictionary, SdoAbort
from humanoid_twin.ethercat.esc.slave import Slave
from humanoid_twin.ethercat.frame_faults import FrameFaults, FrameOutcome
from humanoid_twin.ethercat.log import LogLine
from humanoid_twin.ethercat.ring import VirtualRing
from humanoid_twin.physics.plant import Plant


class DriveReport(TypedDict):
    """One drive. Raw values are as in its objects, the joint's are those of the plant."""

    al_state: int
    al_error: bool
    al_status: int  # AL status code
    powered: bool
    statusword: int
    error: int  # 0x603F
    position: int  # [counts]
    velocity: int  # [counts/s]
    torque: int  # as in 0x6077
    target: int  # [counts]
    gate: int
    pos_reg: int
    vel_reg: int
    integral: int
    joint_position: float  # [rad]
    joint_velocity: float  # [rad/s]
    sync_errors: int
    dc_difference_ns: int
    sync0_active: bool


class Statistics(TypedDict):
    """Counts since the ring was started; lists are in ring order."""

    frames: int
    lost_frames: int
    process_data_frames: int
    mailbox_requests: list[int]


@dataclass(frozen=True, slots=True)
class RingCommands:
    """Methods with JSON arguments and results, for slaves by ring position, from 0.

    All raise TwinError for impossible arguments and unknown slaves.
    """

    ring: VirtualRing
    plant: Plant  # joint k is that of drive k
    frame_faults: FrameFaults

    def mailbox_delay(self, seconds: float, slave: int | None = None) -> None:
        """Set the time from an SDO request to its answer [s], inf: never; slave None: all."""
        if not seconds >= 0:
            raise RingError(f"mailbox delay {seconds} s, expected 0 or more")
        for one in self.ring.chain.slaves if slave is None else [self._slave(slave)]:
            one.mailbox.delay = seconds * 1e9
        self.ring.changed()

    def drop(self, probability: float) -> None:
        """Lose frames at random from now on; half of them reach the slaves."""
        self.frame_faults.probability = arguments.probability(probability)

    def damage(self, probability: float) -> None:
        """Damage frames at random from now on: the slaves behind the place ignore them."""
        self._strikes(FrameOutcome.DAMAGED, probability)

    def late(self, probability: float, seconds: float) -> None:
        """Answer frames late [s] at random from now on."""
        self.frame_faults.lateness = arguments.duration(seconds, "lateness")
        self._strikes(FrameOutcome.LATE, probability)

    def double(self, probability: float) -> None:
        """Answer frames twice at random from now on."""
        self._strikes(FrameOutcome.DOUBLED, probability)

    def overtake(self, probability: float) -> None:
        """Answer frames after the next one at random from now on."""
        self._strikes(FrameOutcome.OVERTAKEN, probability)

    def miscount(self, probability: float) -> None:
        """Have one slave too few count process data, at random from now on."""
        self._strikes(FrameOutcome.MISCOUNTED, probability)

    def drop_next(self, count: int) -> None:
        """Lose the next frames before they reach a slave."""
        self.frame_faults.lost_next = arguments.count(count, "number of frames")

    def late_next(self, count: int, seconds: float) -> None:
        """Answer the next frames late [s]."""
        lateness = arguments.duration(seconds, "lateness")
        self.frame_faults.late_next = arguments.count(count, "number of frames")
        self.frame_faults.lateness = lateness

    def cut(self, after_slave: int) -> None:
        """Cut the cable behind a slave; -1: before the first."""
        if after_slave != -1:
            self._slave(after_slave)
        self.ring.chain.cut(after_slave)
        self.ring.changed()

    def mend(self) -> None:
        """Mend the cable."""
        self.ring.chain.cut(None)
        self.ring.changed()

    def power_off(self, slave: int) -> None:
        """Cut the power of a slave: frames don't reach those behind it either."""
        self._power(slave, False)

    def power_on(self, slave: int) -> None:
        """Restore the power of a slave: INIT, no station address, gate 0."""
        self._power(slave, True)

    def power_cycle(self, slave: int) -> None:
        """Switch the power of a slave off and on between two frames."""
        self._power(slave, False)
        self._power(slave, True)

    def freeze_firmware(self, slave: int, frozen: bool = True) -> None:
        """Stop the firmware, or let it run again: meanwhile only the ESC answers."""
        self._slave(slave).freeze(bool(frozen))

    def drive_error(self, slave: int, code: int) -> None:
        """Raise the error `code` of 0x603F, not 0, in a drive."""
        one = self._slave(slave)
        one.firmware.raise_error(arguments.whole(code, "error code", 1, 0xFFFF))
        one.process.sample()

    def keep_mode(self, slave: int, mode: int) -> None:
        """Put the drive into a mode of 0x6061; it takes no other until it loses power."""
        self._slave(slave).firmware.keep_mode(arguments.whole(mode, "mode", -128, 127))

    def weaken_battery(self, slave: int) -> None:
        """Weaken the encoder's battery: from the next power-up on, the turns are unknown."""
        self._slave(slave).firmware.weaken_battery()

    def change_battery(self, slave: int) -> None:
        """Change the encoder's battery: a fault reset clears the error 0x730F from now on."""
        self._slave(slave).firmware.change_battery()

    def emergency(self, slave: int, code: int) -> None:
        """Send an emergency message from a slave."""
        self._slave(slave).emergency(arguments.whole(code, "emergency code", 0, 0xFFFF))

    def dc_off(self, slave: int) -> None:
        """Stop SYNC0 of a slave."""
        self._slave(slave).clock.switch_off()

    def swap(self, a: int, b: int) -> None:
        """Exchange the places of two slaves on the cable; their joints go with them."""
        self._slave(a), self._slave(b)
        self.ring.chain.swap(a, b)
        self.ring.changed()

    def identity(self, slave: int, vendor: int, product: int) -> None:
        """Make a slave identify itself as another device."""
        one = self._slave(slave)
        changed = replace(
            one.identification.identity,
            vendor=arguments.whole(vendor, "vendor", 0, 0xFFFFFFFF),
            product=arguments.whole(product, "product", 0, 0xFFFFFFFF),
        )
        one.identify(changed)

    def set_joint(self, slave: int, position: float, velocity: float = 0.0) -> None:
        """Set angle [rad] and speed [rad/s] of the joint of a slave's drive, in the plant."""
        angle = arguments.bounded(position, "position")
        self.plant.set_state(self._joint(slave), angle, arguments.bounded(velocity, "velocity"))

    def external_torque(self, slave: int, torque: float) -> None:
        """Load the joint of a slave's drive from outside [Nm], until the next call."""
        self.plant.set_external_torque(self._joint(slave), arguments.bounded(torque, "torque"))

    def drives(self) -> list[DriveReport]:
        """Return the state of all drives, in ring order."""
        return [self._report(slave) for slave in self.ring.chain.slaves]

    def statistics(self) -> Statistics:
        """Return counts since the start."""
        return Statistics(
            frames=self.ring.frames,
            lost_frames=self.frame_faults.lost,
            process_data_frames=self.ring.process_data_frames,
            mailbox_requests=[slave.mailbox_requests for slave in self.ring.chain.slaves],
        )

    def log(self) -> list[LogLine]:
        """Return the events since the last call: (ring time [s], slave, kind, detail).

        Kinds: "request" (a mailbox message has arrived: service, command, index, subindex), "read"
        and "write" (an object was accessed: index, subindex, value, complete, abort), "state" (AL:
        state, error, code), "fault" (a communication error: reason). The latest 10 000 lines are
        kept: if there were more, the first line is "dropped" (lines).
        """
        return self.ring.log.take()

    def _strikes(self, outcome: FrameOutcome, probability: float) -> None:
        self.frame_faults.others[outcome] = arguments.probability(probability)

    def _slave(self, position: int) -> Slave:
        slaves = self.ring.chain.slaves
        if not (isinstance(position, int) and 0 <= position < len(slaves)):
            raise RingError(f"no slave {position}, the ring has 0 to {len(slaves) - 1}")
        return slaves[position]

    def _joint(self, position: int) -> int:
        return self.ring.slaves.index(self._slave(position))

    def _power(self, position: int, on: bool) -> None:
        self._slave(position).power(on)
        self.ring.chain.update()
        self.ring.changed()

    def _report(self, slave: Slave) -> DriveReport:
        joint, dictionary = self.ring.slaves.index(slave), slave.firmware.dictionary
        return DriveReport(
            al_state=int(slave.al.state),
            al_error=slave.al.error,
            al_status=int(slave.al.code),
            powered=slave.powered,
            statusword=_integer(dictionary, objects.STATUSWORD, 0),
            error=_integer(dictionary, objects.ERROR_CODE, 0),
            position=_integer(dictionary, objects.POSITION, 0),
            velocity=_integer(dictionary, objects.VELOCITY, 0),
            torque=_integer(dictionary, objects.TORQUE, 0),
            target=_integer(dictionary, objects.TARGET_POSITION, 0),
            gate=_integer(dictionary, *objects.GATE_SWITCH),
            pos_reg=_integer(dictionary, *objects.POSITION_GAIN),
            vel_reg=_integer(dictionary, *objects.VELOCITY_GAIN),
            integral=_integer(dictionary, *objects.VELOCITY_INTEGRAL),
            joint_position=float(self.plant.position[joint]),
            joint_velocity=float(self.plant.velocity[joint]),
            sync_errors=slave.supervision.errors,
            dc_difference_ns=slave.clock.difference,
            sync0_active=slave.clock.active,
        )


def _integer(dictionary: ObjectDictionary, index: int, subindex: int) -> int:
    """Return the value of an object; 0 for one that the drive lacks."""
    try:
        value = dictionary.entry(index, subindex).get()
    except SdoAbort:
        return 0
    return value if isinstance(value, int) else 0
