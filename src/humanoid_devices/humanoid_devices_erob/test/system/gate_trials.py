"""Randomized start-ups, interruptions and ends of the stack, and a judge of every SDO write.

A trial starts the stack on drives in the state after the last trial, interrupts the start-up or the
operation after it, and ends it in order or as kill -9 does. Clients write at any time: before the
start, during it, and without permission. The judge reads the wire, after all checks of the stack.
It uses the messages that this module has published and the states of the drives, and no code of
the stack.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from random import Random
from typing import Final

from test_support.twin.memory_ring import MemoryMaster, MemoryRing

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware_component import HardwareInfo
from humanoid_devices_erob.erob_system import ErobSystem
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.master.al_state import AlState
from humanoid_devices_erob.protocol.cia402 import DriveState
from humanoid_devices_erob.protocol.frame import Command, decode_frame
from humanoid_twin.ethercat.firmware import AlState as DriveAlState

LEAST, PERIODS = 0.05, 5  # [s] and periods of the validity of joint states, by the documents
ROUNDING: Final = 1e-9  # [s] of ring time
GATE, VELOCITY, POSITION = (0x2383, 0), (0x2381, 1), (0x2382, 1)
INTEGRAL: Final = 0x2381, 2  # an object that no other client writes
MAILBOX: Final = 0x1000  # the drives' SM0
DOWNLOAD: Final = 1  # command specifier of SDO (ETG.1000.6), behind 8 bytes of headers
RATES: Final = (50.0, 100.0, 100.0, 200.0, 200.0, 500.0, 500.0, 1000.0)  # [Hz]
BRING_UP_RATES: Final = (200, 500, 500, 1000)  # [Hz]
# Clocks that lock soon, and facts of a drive that the documents leave open.
SOON: Final[Mapping[str, object]] = {"frames_to_lock": 5}
RINGS: Final = (
    (2, SOON),
    (3, {**SOON, "interpolation": "writable", "brake": True}),
    (4, {**SOON, "sync_type": "dc", "feed_forward": "absent"}),
)
STARTS: Final = (*["well"] * 6, "killed", "stopped", "lossy", "fault", "power")
EVENTS: Final = (
    "silent", "silent", "late", "nan", "mode", "safeop", "error", "lossy", "slow", "held up",
    "cut", "well",
)  # fmt: skip
FLAWS: Final = ("silent", "late", "nan")  # of the joint states
Infos = Callable[[int, float, int], HardwareInfo]


class Killed(BaseException):
    """kill -9 at some time."""


@dataclass
class Tally:
    """Counts of actions, and of events on the wire."""

    trials: int = 0
    started: int = 0  # trials in which all drives came into operation
    interruptions: int = 0
    writes: Counter[str] = field(default_factory=Counter)  # SDO writes, by phase
    violations: list[str] = field(default_factory=list)
    convicted: set[int] = field(default_factory=set)  # trials with violations

    def __iadd__(self, other: Tally) -> Tally:
        self.convicted |= {self.trials + trial for trial in other.convicted}
        self.trials += other.trials
        self.started += other.started
        self.interruptions += other.interruptions
        self.writes += other.writes
        self.violations += other.violations
        return self

    def __str__(self) -> str:
        phases = ", ".join(f"{count} {phase}" for phase, count in sorted(self.writes.items()))
        return (
            f"{self.trials} trials ({self.started} came into operation, {self.interruptions} "
            f"interruptions), {self.writes.total()} SDO writes ({phases}), "
            f"{len(self.violations)} violations in {len(self.convicted)} trials"
            + "".join(f"\n  {violation}" for violation in self.violations[:5])
        )


class Judge:
    """Judges every frame that leaves the master."""

    def __init__(self, tally: Tally, seed: int) -> None:
        self.phase = "idle"
        self.limit = 0.0  # [s] of the validity of joint states
        self._tally, self._seed = tally, seed
        self._published = self._measured = -math.inf  # [s] of the latest valid joint states

    def watch(self, ring: MemoryRing) -> None:
        ring.on_frame = lambda frame: self._frame(ring, frame)

    def begin(self, phase: str) -> None:
        """Begin a phase: joint states published before do not count."""
        self.phase = phase
        self._published = self._measured = -math.inf

    def published(self, now: float, measured: float) -> None:
        """Note that complete and finite joint states are published."""
        self._published, self._measured = now, measured

    def convict(self, what: str) -> None:
        where = f"seed {self._seed}, trial {self._tally.trials}, {self.phase}"
        self._tally.violations.append(f"{where}: {what}")
        self._tally.convicted.add(self._tally.trials)

    def _frame(self, ring: MemoryRing, frame: bytes) -> None:
        if frame[16] in (Command.LRW, Command.BRD):
            return
        for datagram in decode_frame(frame):
            if datagram.command != Command.FPWR or datagram.address >> 16 != MAILBOX:
                continue
            command, key = datagram.data[8], datagram.data[9:12]
            if command >> 5 == DOWNLOAD:
                slave = (datagram.address & 0xFFFF) - 0x1001
                index, subindex = int.from_bytes(key[:2], "little"), key[2]
                value = int.from_bytes(datagram.data[12:16], "little")
                self._tally.writes[self.phase] += 1
                problem = self._problem(ring, slave, (index, subindex), value)
                if problem:
                    where = f"0x{index:04X}:{subindex} of slave {slave}"
                    self.convict(f"{ring.clock():.6f} s: {where}: {problem}")

    def _problem(self, ring: MemoryRing, slave: int, key: tuple[int, int], value: int) -> str:
        there = ring.ring.slaves[slave]
        if self.phase == "starting":
            clocks = [one.clock.active for one in ring.ring.slaves]
            if there.al.state != DriveAlState.PREOP or any(clocks):
                return f"in {there.al.state.name}, SYNC0 active {clocks}"
        elif self.phase == "ending":
            if key != GATE or value:
                return f"value {value}"
            if ring.drives[slave].state is DriveState.OPERATION_ENABLED:
                return "while it is enabled"
        elif self.phase == "operating":
            age = ring.clock() - min(self._published, self._measured)
            if age >= self.limit + ROUNDING:
                return f"joint states are {age:.3f} s old"
        else:
            return "no client may write"
        return ""


class GateTrials:
    """Trials one after the other on a few rings, which last for all trials."""

    def __init__(self, infos: Infos, seed: int) -> None:
        """`infos(count, update rate, bring-up rate)`: the block of the robot description."""
        self.random, self.tally = Random(seed), Tally()
        self._infos, self._judge = infos, Judge(self.tally, seed)
        self._rings = [MemoryRing(count, seed=seed, assume=facts) for count, facts in RINGS]
        self.ring = self._rings[0]  # of the present trial
        self._stacks: dict[MemoryRing, tuple[ErobSystem, JointState]] = {}  # kept for a new start
        self._answers: list[Future[tuple[SdoResult, ...]]] = []
        self._number = 0
        self._flaw = ""  # of the joint states
        self._lost_power = False  # a drive has lost its power in this trial
        self._sleeps = 0  # until the start or the operation is interrupted; never below 0
        self._interrupt: Callable[[], None] = lambda: None
        for ring in self._rings:
            self._judge.watch(ring)
            ring.on_sleep = self._slept

    def run(self, trials: int) -> Tally:
        for _ in range(trials):
            self._trial()
            self.tally.trials += 1
        return self.tally

    def _trial(self) -> None:
        ring = self.ring = self.random.choice(self._rings)
        self._repair()
        self._answers.clear()
        self._configure()
        try:
            if self._start():
                self._operate()
                self._end()
        except Killed:
            self._die()
        self._judge.begin("idle")
        ring.advance(self.random.choice([0.001, 0.02, 0.3]))
        self._tell()  # the late answers
        self._ask_for_a_write()
        ring.control.log()

    # The start.

    def _configure(self) -> None:
        """Start the former stack again, or a new one."""
        random, ring = self.random, self.ring
        self.rate = random.choice(RATES)
        self.count, self.period = ring.count, 1.0 / self.rate
        self._judge.limit = max(PERIODS * self.period, LEAST)
        if ring not in self._stacks or random.random() < 0.7:
            new = ErobSystem(ring, open_master=ring.master), JointState(self.count)
            self._stacks[ring] = new
        self.system, self.state = self._stacks[ring]
        self.command = JointCommand(self.count)
        self.system.on_configure(self._infos(self.count, self.rate, random.choice(BRING_UP_RATES)))

    def _start(self) -> bool:
        """Start; return True if the drives are in operation and the loop drives the ring."""
        random, ring = self.random, self.ring
        self._judge.begin("starting")
        kind = random.choice(STARTS)
        self._lost_power = False
        self._sleeps = random.randrange(1, random.choice([20, 100, 400]))
        self._interrupt = {
            "killed": self._kill,
            "stopped": self._stop_bring_up,
            "fault": lambda: ring.control.drive_error(random.randrange(self.count), 0x8500),
            "power": self._power_cycle,
        }.get(kind, lambda: None)
        if kind == "lossy":
            ring.control.drop(random.choice([0.01, 0.03, 0.1]))
        ring.turns = random.choice([0, 1, 20])
        try:
            self.system.on_activate(self.state)
        except HardwareError:
            return False
        finally:
            self._interrupt = lambda: None
            ring.control.drop(0.0)
        self._tell()  # before the loop drives the ring no joint states count
        self._ask_for_a_write()
        self._due = ring.clock()
        self._judge.begin("operating")
        self._take_over(healthy=kind in ("well", "lossy"))
        return True

    def _take_over(self, *, healthy: bool) -> None:
        """Check that a write succeeds with joint states and healthy drives."""
        self._mode()
        wanted = tuple(SdoObject(slave, *INTEGRAL, bytes(4)) for slave in range(self.count))
        impedance = self.system._impedance
        self._period(lambda: None)
        answer = self.system.submit(
            SdoBatch(wanted, True, int(impedance.mode), impedance.number, math.inf)
        )
        for _ in range(1 + round(0.05 * self.rate)):
            if answer.done():
                break
            self._period(lambda: None)
        if not healthy:
            return
        self.tally.started += 1
        found = {result.status.name for result in answer.result(0)} if answer.done() else {"late"}
        if found != {SdoStatus.DONE.name}:
            self._judge.convict(f"a write that may be done is {found}")

    # The operation.

    def _operate(self) -> None:
        for _ in range(self.random.randrange(1, 5)):
            self.tally.interruptions += 1
            self._event(self.random.choice(EVENTS))
        if self.random.random() < 0.15:
            self._sleeps, self._interrupt = self.random.randrange(1, 30), self._kill
            for _ in range(3):
                self._tick()
            self._interrupt = lambda: None

    def _event(self, kind: str) -> None:
        random, control = self.random, self.ring.control
        slave = random.randrange(self.count)
        self._flaw = kind if kind in FLAWS else ""
        begin: dict[str, Callable[[], object]] = {
            "mode": self._mode,
            "safeop": lambda: self.system._master.request_slave_state(slave, AlState.SAFEOP),
            "error": lambda: control.drive_error(slave, 0x8500),
            "lossy": lambda: control.drop(0.2),
            "slow": lambda: control.mailbox_delay(random.choice([0.0, 0.004, 0.03]), slave),
            "held up": lambda: self.ring.advance(random.choice([0.02, 0.06, 0.15])),
            "cut": lambda: control.cut(slave - 1),
        }
        begin.get(kind, lambda: None)()
        least = self._judge.limit / self.period if self._flaw and random.random() < 0.5 else 0
        for _ in range(min(round(least), 15) + random.randrange(1, 9)):
            self._tick()
        control.drop(0.0)
        control.mend()
        self._flaw = ""
        if random.random() < 0.5:
            self.system.reset_faults()

    def _tick(self) -> None:
        def ask() -> None:
            if self.random.random() < 0.6:
                self._ask_for_a_write()

        self._period(ask)

    def _period(self, ask: Callable[[], None]) -> None:
        """Run a period of the control loop, and the publisher beside it."""
        system, now = self.system, self.ring.clock
        system.read(self.state, now(), self.period)
        self._tell()
        ask()
        system.write(self.command, now(), self.period)
        self._due = max(self._due + self.period, now()) + system.tick_correction()
        system.idle_until(self._due)

    def _slept(self, _now: float) -> None:
        """Act between two frames of the stack: other threads, and interruptions."""
        self._sleeps -= 1
        if self._sleeps == 0:
            self._interrupt()
        chance = self.random.random()
        if chance < 0.05:
            self._tell()
        elif chance < 0.08:
            self._ask_for_a_write()

    def _tell(self) -> None:
        """Publish joint states, or invalid ones."""
        if self._flaw == "silent":
            return
        now, state = self.ring.clock(), self.state
        measured = now - (self._judge.limit + 0.01 if self._flaw == "late" else 0.0)
        joint = self.random.randrange(self.count)
        kept = state.position[joint]
        if self._flaw == "nan":
            state.position[joint] = self.random.choice([math.nan, math.inf])
        else:
            self._judge.published(now, measured)
        self.system.joint_states_published(now, measured)
        state.position[joint] = kept

    def _mode(self) -> None:
        self._number += 1
        self.system.mode_changed(self.random.choice(list(Mode)), self._number)

    def _ask_for_a_write(self) -> None:
        """Write as the impedance manager, `hc sdo` or a replayed recording."""
        random, now = self.random, self.ring.clock()
        self._answers = [answer for answer in self._answers if not answer.done()]
        if len(self._answers) >= 6:
            return
        choice = [(GATE, 1), (VELOCITY, 56), (VELOCITY, 19), (POSITION, 0), (POSITION, 515)]
        objects = tuple(
            SdoObject(random.randrange(self.count), *key, value.to_bytes(4, "little"))
            for key, value in random.choices(choice, k=random.randrange(1, 7))
        )
        impedance = self.system._impedance
        mode, number = int(impedance.mode), impedance.number - (random.random() < 0.1)
        until = random.choice([math.inf, math.nan, now + 0.03, now - 1.0])
        self._answers.append(self.system.submit(SdoBatch(objects, True, mode, number, until)))

    # The end.

    def _end(self) -> None:
        """End in order, which closes all gates and makes no other writes, or as kill -9 does."""
        if self.random.random() < 0.3:
            raise Killed
        self._repair()
        self._judge.begin("ending")
        try:
            self.system.on_deactivate()
        except HardwareError as error:
            if not self._lost_power:
                self._judge.convict(f"gates may be open: {error}")
        if any(drive.gains.gate for drive in self.ring.drives):
            self._judge.convict("gates are open after the ordered exit")

    def _power_cycle(self) -> None:
        """Cycle the power of a drive, which closes its gate."""
        self.ring.control.power_cycle(self.random.randrange(self.count))
        self._lost_power = True

    def _stop_bring_up(self) -> None:
        thread = self.system._bring_up_thread
        assert thread is not None
        thread._stop.set()

    def _kill(self) -> None:
        self._cut()
        raise Killed

    def _cut(self) -> None:
        master = self.system._master
        assert isinstance(master, MemoryMaster)
        master.line.alive = False

    def _die(self) -> None:
        self._cut()
        del self._stacks[self.ring]

    def _repair(self) -> None:
        """Mend the cable and the mailboxes; their effects remain."""
        control = self.ring.control
        control.drop(0.0)
        control.mend()
        control.mailbox_delay(self.random.choice([*[0.0] * 7, 0.002]))
        self._flaw = ""
