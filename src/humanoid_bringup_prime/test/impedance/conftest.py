"""The impedance manager on drives made of dictionaries, on a clock that only tests move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from humanoid_bringup_prime.impedance.manager import ImpedanceManager
from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.impedance.drives import Drives, ImpedanceParameters, mode_table
from humanoid_devices_erob.impedance.values import Batch, ModeInForce, Reply, Summary
from humanoid_devices_erob.mailbox.sdo import SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.operation.joint_states_gate import JointStatesGate

POSITION, VELOCITY, INTEGRAL, GATE = (0x2382, 1), (0x2381, 1), (0x2381, 2), (0x2383, 0)
# By the documents: 51.47 kp/kd, 9.408 kd, 0; rounded.
REGISTERS = {
    Mode.ZERO_TORQUE: (0, 0, 0),
    Mode.DAMPING: (0, 56, 0),
    Mode.STANDBY: (515, 19, 0),
    Mode.LOCOMOTION: (515, 19, 0),
    Mode.REMOTE: (515, 19, 0),
}
STEP = 0.001  # [s]: one object a drive
PERIOD = 0.02  # [s] of the joint states


def parameters(count: int, **changes: object) -> ImpedanceParameters:
    values: dict[str, object] = {
        "joint_names": [f"joint{i}" for i in range(count)],
        "ring_positions": list(range(count)),
        "kt": [0.132e-3] * count,
        "gear": [50.0] * count,
        "update_rate": 50,
        "mode_kp": [0.0, 0.0, 20.0, 20.0, 20.0],
        "mode_kd": [0.0, 6.0, 2.0, 2.0, 2.0],
    }
    return ImpedanceParameters.model_validate(values | changes)


@dataclass
class FakeDrive:
    """The registers of a drive, and its defects."""

    values: dict[tuple[int, int], int] = field(
        default_factory=lambda: {POSITION: 0, VELOCITY: 0, INTEGRAL: 0, GATE: 0}
    )
    stores_behind_its_gate: bool = True
    length: int = 4  # bytes of a register
    dead: bool = False  # never answers
    aborts: set[tuple[int, int]] = field(default_factory=set)  # objects whose writes it refuses
    ignores: set[tuple[int, int]] = field(default_factory=set)  # objects that it does not change
    stiffness: list[int] = field(default_factory=list)  # pos · vel that acts after every write

    def write(self, key: tuple[int, int], value: int) -> None:
        kept = self.values[GATE] == 0 and key != GATE and not self.stores_behind_its_gate
        if not kept and key not in self.ignores:
            self.values[key] = value
        if self.values[GATE] == 1:
            self.stiffness.append(self.values[POSITION] * self.values[VELOCITY])

    @property
    def row(self) -> tuple[int, ...]:
        return tuple(self.values[key] for key in (POSITION, VELOCITY, INTEGRAL, GATE))

    def restart(self) -> None:
        self.values = {POSITION: 0, VELOCITY: 0, INTEGRAL: 0, GATE: 0}


class RunningBatch:
    """A batch at the component: one object per slave and step, as the batch services do."""

    def __init__(self, bench: Bench, batch: Batch) -> None:
        self.bench, self.batch = bench, batch
        self.todo: dict[int, list[int]] = {}
        for place, item in enumerate(batch.objects):
            self.todo.setdefault(item.slave, []).append(place)
        self.back = {slave: list(places) for slave, places in self.todo.items() if batch.write}
        self.results: dict[int, SdoResult] = {}
        self.stuck = dict.fromkeys(self.todo, 100)  # steps until the timeout of a dead drive

    @property
    def done(self) -> bool:
        return len(self.results) == len(self.batch.objects)

    def step(self) -> None:
        for slave in self.todo:
            if self.todo[slave]:
                self._begin(slave)
            elif self.back.get(slave):
                place = self.back[slave].pop(0)
                if place not in self.results:
                    self._read(place, self._wanted(slave, place))

    def _wanted(self, slave: int, place: int) -> bytes:
        """Return the last value written to the object at `place`."""
        item = self.batch.objects[place]
        same = [o for o in self.batch.objects if o.slave == slave and _key(o) == _key(item)]
        return same[-1].data

    def _begin(self, slave: int) -> None:
        bench, places = self.bench, self.todo[slave]
        item = self.batch.objects[places[0]]
        reason = self._refusal()
        if reason:
            self._fail(slave, SdoStatus.REFUSED, reason)
            return
        bench.began.append((bench.time, item, self.batch.write))
        drive = bench.drives[slave]
        if drive.dead:
            bench.began.pop()
            self.stuck[slave] -= 1
            if self.stuck[slave] <= 0:
                self._fail(slave, SdoStatus.TIMED_OUT, "no answer")
            return
        if self.batch.write and _key(item) in drive.aborts:
            self._fail(slave, SdoStatus.ABORTED, "the drive aborted")
            return
        place = places.pop(0)
        if self.batch.write:
            drive.write(_key(item), int.from_bytes(item.data, "little", signed=True))
        else:
            self._read(place, b"")

    def _refusal(self) -> str:
        batch, bench = self.batch, self.bench
        if batch.write and batch.in_force != bench.in_force:
            return "not in force"
        if batch.write and bench.time > batch.valid_until:
            return "its permission ended"
        return ""

    def _fail(self, slave: int, status: SdoStatus, message: str) -> None:
        for place in self.todo[slave]:
            item = self.batch.objects[place]
            self.results[place] = SdoResult(item, status, 0, message)
            status = SdoStatus.REFUSED
        self.todo[slave] = []

    def _read(self, place: int, wanted: bytes) -> None:
        item = self.batch.objects[place]
        value = self.bench.drives[item.slave].values.get(_key(item), 0)
        data = value.to_bytes(self.bench.drives[item.slave].length, "little", signed=True)
        status = SdoStatus.DIFFERENT if wanted and data != wanted else SdoStatus.DONE
        found = SdoObject(item.slave, item.index, item.subindex, data)
        self.results[place] = SdoResult(found, status)

    def reply(self) -> Reply:
        return Reply([self.results[place] for place in range(len(self.batch.objects))])


def _key(item: SdoObject) -> tuple[int, int]:
    return item.index, item.subindex


class Bench:
    """Manager, drives, joint states and time."""

    def __init__(self, count: int = 10, **changes: object) -> None:
        chosen = parameters(count, **changes)
        drives = Drives.of(chosen)
        self.names = list(chosen.joint_names)
        self.gate = JointStatesGate(self.names, 1.0 / chosen.update_rate)
        self.manager = ImpedanceManager(
            drives,
            mode_table(drives, chosen),
            self.gate,
            parallel=chosen.parallel_sdo,
            timeout=1.0,
        )
        self.drives = [FakeDrive() for _ in range(count)]
        self.time = 100.0
        self.flowing = True
        self.obstacle = ""
        self.answering = True
        self.in_force: ModeInForce | None = None
        self.sent: list[Batch] = []
        self.began: list[tuple[float, SdoObject, bool]] = []  # with their times
        self.running: list[RunningBatch] = []
        self._next_states = 0.0
        self._number = 0

    def state(self, mode: Mode, number: int | None = None) -> Bench:
        """Switch, and publish the statement."""
        self._number = self._number + 1 if number is None else number
        self.in_force = ModeInForce(mode, self._number)
        self.manager.stated(self.in_force, self.time)
        return self

    def run(self, seconds: float) -> Bench:
        for _ in range(round(seconds / STEP)):
            self.time += STEP
            if self.flowing and self.time >= self._next_states:
                self._next_states = self.time + PERIOD
                self.manager.joints_seen(self.names, [0.0] * len(self.names), self.time)
            for batch in self.manager.next_batches(self.time, self.obstacle):
                self.sent.append(batch)
                self.running.append(RunningBatch(self, batch))
            for running in list(self.running):
                running.step()
                if running.done:
                    self.running.remove(running)
                    if self.answering:
                        self.manager.finished(running.batch, running.reply(), self.time)
        return self

    @property
    def summary(self) -> Summary:
        return self.manager.summary(self.time)

    @property
    def confirmed(self) -> bool:
        return self.summary.confirmed

    @property
    def writes_begun(self) -> list[float]:
        return [time for time, _, write in self.began if write]

    def writes(self) -> list[tuple[int, tuple[int, int], int]]:
        """Return the writes since the last call: slave, object, value."""
        found = [
            (o.slave, _key(o), int.from_bytes(o.data, "little", signed=True))
            for _, o, write in self.began
            if write
        ]
        self.began.clear()
        return found

    def enter(self, mode: Mode) -> Bench:
        """Switch and wait until it is confirmed."""
        self.state(mode).run(0.1)
        assert self.confirmed, self.summary.message
        self.sent.clear()
        self.began.clear()
        return self


@pytest.fixture
def bench() -> Bench:
    """Ten drives after their power-up: gate closed, gains not written."""
    return Bench()


@pytest.fixture(scope="session")
def make_bench() -> Callable[..., Bench]:
    return Bench


@pytest.fixture(scope="session")
def make_parameters() -> Callable[..., ImpedanceParameters]:
    return parameters


@pytest.fixture(scope="session")
def registers() -> dict[Mode, tuple[int, int, int]]:
    """Position gain, velocity gain and integral of every mode, for an eRob70."""
    return REGISTERS
