"""Drives made of dictionaries, served at once, on a clock that only tests move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, settings

from humanoid_bringup_prime.calibration.limp import LimpDrives
from humanoid_bringup_prime.calibration.robot import Drive
from humanoid_bringup_prime.impedance.gate import JointStatesGate
from humanoid_bringup_prime.impedance.values import Batch, Reply, Wish
from humanoid_control_common.modes import Mode
from humanoid_devices_erob.sdo import SdoObject, SdoResult, SdoStatus

settings.register_profile(
    "workspace",
    deadline=None,
    max_examples=60,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("workspace")

POSITION, VELOCITY, INTEGRAL, GATE = (0x2382, 1), (0x2381, 1), (0x2381, 2), (0x2383, 0)
FACTORY = (1000, 270, 20, 0)
PERIOD = 0.02  # [s] of the joint states


@dataclass
class FakeDrive:
    """A drive's registers, and what is wrong with it."""

    values: dict[tuple[int, int], int] = field(
        default_factory=lambda: dict(
            zip((POSITION, VELOCITY, INTEGRAL, GATE), FACTORY, strict=True)
        )
    )
    stores_behind_its_gate: bool = True
    dead: bool = False  # never answers
    ignores: set[tuple[int, int]] = field(default_factory=set)  # objects it keeps as they are

    @property
    def row(self) -> tuple[int, ...]:
        return tuple(self.values[key] for key in (POSITION, VELOCITY, INTEGRAL, GATE))

    def write(self, key: tuple[int, int], value: int) -> None:
        kept = self.values[GATE] == 0 and key != GATE and not self.stores_behind_its_gate
        if not kept and key not in self.ignores:
            self.values[key] = value

    @property
    def acting(self) -> tuple[int, ...]:
        """The gains in effect: position, velocity, integral."""
        return self.row[:3] if self.values[GATE] == 1 else FACTORY[:3]


class Bench:
    """LimpDrives, its drives, joint states and time."""

    def __init__(self, count: int = 3, **of_drive: object) -> None:
        names = [f"joint{i}" for i in range(count)]
        self.gate = JointStatesGate(names, PERIOD)
        self.names = names
        self.limp = LimpDrives(
            [Drive(name, slave, 56) for slave, name in enumerate(names)], self.gate, patience=1.0
        )
        self.drives = [FakeDrive(**of_drive) for _ in range(count)]  # type: ignore[arg-type]
        self.time = 100.0
        self.flowing = True
        self.answering = True
        self.obstacle = ""
        self.wish: Wish | None = Wish(Mode.ZERO_TORQUE, 4)
        self.in_force = self.wish
        self.batches: list[Batch] = []
        self.acting: list[tuple[tuple[int, ...], ...]] = []  # gains in effect after every object
        self.rows: list[tuple[tuple[int, ...], ...]] = []  # registers after every object

    def run(self, seconds: float) -> Bench:
        for _ in range(round(seconds / PERIOD)):
            self.time += PERIOD
            if self.flowing:
                self.limp.joints_seen(self.names, [0.0] * len(self.names), self.time)
            batch = self.limp.next_batch(self.time, self.wish, self.obstacle)
            if batch is not None:
                self.batches.append(batch)
                if self.answering:
                    self.limp.finished(batch, self._serve(batch), self.time)
        return self

    def select(self, joint: str) -> Bench:
        self.limp.select(joint)
        return self.run(0.5)

    def registers(self) -> list[tuple[int, ...]]:
        return [drive.row for drive in self.drives]

    def _serve(self, batch: Batch) -> Reply:
        if batch.write and batch.wish != self.in_force:
            refused = SdoStatus.REFUSED
            return Reply([SdoResult(it, refused, message="not in force") for it in batch.objects])
        results = []
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
        value = self.drives[item.slave].values[item.index, item.subindex]
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
    """Position gain, velocity gain, integral and gate of a drive as it comes."""
    return FACTORY
