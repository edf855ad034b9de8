"""Drives made of dictionaries, and virtual ones, on clocks that only tests move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from test_support.stepped.stepped_time import SteppedTime
from test_support.twin.memory_ring import MemoryControl

from humanoid_bringup.calibration.limp_drive import LimpDrives
from humanoid_bringup.calibration.robot import Drive
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware_component import HardwareInfo
from humanoid_devices_erob.erob_system import ErobSystem
from humanoid_devices_erob.impedance.values import Batch, ModeInForce, Reply
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.master.master import EthercatMaster
from humanoid_devices_erob.operation.joint_states_gate import JointStatesGate
from humanoid_twin.robot.control import RobotControl

POSITION, VELOCITY, INTEGRAL, GATE = (0x2382, 1), (0x2381, 1), (0x2381, 2), (0x2383, 0)
FACTORY = (1000, 270, 20, 0)
PERIOD = 0.02  # [s] of the joint states


@dataclass
class FakeDrive:
    """The registers of a drive, and its defects."""

    values: dict[tuple[int, int], int] = field(
        default_factory=lambda: dict(
            zip((POSITION, VELOCITY, INTEGRAL, GATE), FACTORY, strict=True)
        )
    )
    stores_behind_its_gate: bool = True
    dead: bool = False  # never answers
    ignores: set[tuple[int, int]] = field(default_factory=set)  # objects that it does not change

    @property
    def row(self) -> tuple[int, ...]:
        return tuple(self.values[key] for key in (POSITION, VELOCITY, INTEGRAL, GATE))

    def write(self, key: tuple[int, int], value: int) -> None:
        kept = self.values[GATE] == 0 and key != GATE and not self.stores_behind_its_gate
        if not kept and key not in self.ignores:
            self.values[key] = value

    @property
    def acting(self) -> tuple[int, ...]:
        """Return the gains that act: position, velocity, integral."""
        return self.row[:3] if self.values[GATE] == 1 else FACTORY[:3]


class Bench:
    """LimpDrives, its drives, joint states and time."""

    def __init__(self, count: int = 3, **of_drive: object) -> None:
        names = [f"joint{i}" for i in range(count)]
        self.gate = JointStatesGate(names, PERIOD)
        self.names = names
        self.limp_drives = LimpDrives(
            [Drive(name, slave, 56) for slave, name in enumerate(names)], self.gate, timeout=1.0
        )
        self.drives = [FakeDrive(**of_drive) for _ in range(count)]  # type: ignore[arg-type]
        self.time = 100.0
        self.flowing = True
        self.answering = True
        self.obstacle = ""
        self.stated_mode: ModeInForce | None = ModeInForce(Mode.ZERO_TORQUE, 4)
        self.in_force = self.stated_mode
        self.batches: list[Batch] = []
        self.acting: list[tuple[tuple[int, ...], ...]] = []  # gains that act after every object
        self.rows: list[tuple[tuple[int, ...], ...]] = []  # registers after every object

    def run(self, seconds: float) -> Bench:
        for _ in range(round(seconds / PERIOD)):
            self.time += PERIOD
            if self.flowing:
                self.limp_drives.joints_seen(self.names, [0.0] * len(self.names), self.time)
            batch = self.limp_drives.next_batch(self.time, self.stated_mode, self.obstacle)
            if batch is not None:
                self.batches.append(batch)
                if self.answering:
                    self.limp_drives.finished(batch, self._serve(batch), self.time)
        return self

    def select(self, joint: str) -> Bench:
        self.limp_drives.select(joint)
        return self.run(0.5)

    def registers(self) -> list[tuple[int, ...]]:
        return [drive.row for drive in self.drives]

    def _serve(self, batch: Batch) -> Reply:
        if batch.write and batch.in_force != self.in_force:
            refused = SdoStatus.REFUSED
            return Reply([SdoResult(it, refused, message="not in force") for it in batch.objects])
        results: list[SdoResult | SdoObject] = []
        for item in batch.objects:
            drive = self.drives[item.slave]
            if drive.dead:
                results.append(SdoResult(item, SdoStatus.TIMED_OUT, message="no answer"))
                continue
            key = item.index, item.subindex
            if batch.write:
                drive.write(key, int.from_bytes(item.data, "little", signed=True))
                self.acting.append(tuple(one.acting for one in self.drives))
                self.rows.append(tuple(one.row for one in self.drives))
            results.append(item)
        return Reply([it if isinstance(it, SdoResult) else self._read(it) for it in results])

    def _read(self, item: SdoObject) -> SdoResult:
        value = self.drives[item.slave].values.get((item.index, item.subindex), 0)
        data = value.to_bytes(4, "little", signed=True)
        different = item.data not in (b"", data)
        found = SdoObject(item.slave, item.index, item.subindex, data)
        return SdoResult(found, SdoStatus.DIFFERENT if different else SdoStatus.DONE)


@pytest.fixture
def bench() -> Bench:
    """Three drives with factory gains."""
    return Bench()


@pytest.fixture(scope="session")
def make_bench() -> Callable[..., Bench]:
    return Bench


@pytest.fixture(scope="session")
def factory() -> tuple[int, ...]:
    """Position gain, velocity gain, integral and gate of a drive after its power-up."""
    return FACTORY


class RingBench:
    """ErobSystem and LimpDrives on a ring, ticked by hand in ring time; no ROS between them.

    `seen` receives names, joint positions and time in every tick.
    """

    def __init__(
        self,
        control: MemoryControl | RobotControl,
        time: SteppedTime,
        info: HardwareInfo,
        limp_drives: LimpDrives,
        open_master: Callable[[float], EthercatMaster] = EthercatMaster,
    ) -> None:
        self.control, self.limp_drives, self._time = control, limp_drives, time
        self.names, self._period = list(info.joint_set.names), 1.0 / info.update_rate
        self.seen: Callable[[list[str], list[float], float], None] = limp_drives.joints_seen
        self.system = ErobSystem(time, open_master=open_master)
        self.system.on_configure(info)
        self._state, self._command = JointState(len(self.names)), JointCommand(len(self.names))
        self.system.on_activate(self._state)
        self.system.mode_changed(Mode.ZERO_TORQUE, 1)
        self._due = time.clock()

    def run(self, seconds: float) -> RingBench:
        for _ in range(round(seconds / self._period)):
            self.tick()
        return self

    def until(self, condition: Callable[[], object], what: str) -> None:
        for _ in range(3000):
            if condition():
                return
            self.tick()
        raise AssertionError(f"a minute of ring time passed in vain for {what}")

    def tick(self) -> None:
        clock, system, period = self._time.clock, self.system, self._period
        system.read(self._state, clock(), period)
        system.joint_states_published(clock(), clock())
        self.seen(self.names, self._state.position.tolist(), clock())
        batch = self.limp_drives.next_batch(clock(), ModeInForce(Mode.ZERO_TORQUE, 1), "")
        if batch is not None:
            self._send(batch)
        system.write(self._command, clock(), period)
        self._due = max(self._due + period, clock()) + system.tick_correction()
        system.idle_until(self._due)

    def _send(self, batch: Batch) -> None:
        mode, number = int(batch.in_force.mode), batch.in_force.number
        job = SdoBatch(batch.objects, batch.write, mode, number, batch.valid_until)
        future = self.system.submit(job)
        future.add_done_callback(
            lambda done: self.limp_drives.finished(batch, Reply(done.result()), self._time.clock())
        )

    def rows(self) -> list[tuple[int, ...]]:
        return [
            (drive["pos_reg"], drive["vel_reg"], drive["integral"], drive["gate"])
            for drive in self.control.drives()
        ]


@pytest.fixture(scope="session")
def ring_bench() -> type[RingBench]:
    return RingBench
