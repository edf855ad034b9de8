"""One drive on a flywheel, commanded by the bytes of its objects as by a master."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from humanoid_twin.erob.build import JointParameters, Robot, build_robot
from humanoid_twin.erob.erob_drive import ErobDrive
from humanoid_twin.erob.parameters import DriveParameters
from humanoid_twin.ethercat.firmware import AlState
from humanoid_twin.mounting import Mounting
from humanoid_twin.physics.plant import Inertia


@dataclass(frozen=True)
class Bench:
    robot: Robot

    @property
    def drive(self) -> ErobDrive:
        return self.robot.drives[0]

    def read(self, index: int, subindex: int = 0, *, signed: bool = False) -> int:
        return int.from_bytes(self.drive.dictionary.read(index, subindex), "little", signed=signed)

    def write(self, index: int, subindex: int, value: int, size: int = 4) -> None:
        data = value.to_bytes(size, "little", signed=value < 0)
        self.drive.dictionary.write(index, subindex, data)

    def latch(self, controlword: int, target: int | None = None) -> None:
        """Latch a frame's outputs, as at SYNC0."""
        self.write(0x6040, 0, controlword, size=2)
        if target is not None:
            self.write(0x607A, 0, target)

    def enable(self) -> None:
        self.drive.al_state_changed(AlState.OP)
        for controlword in (0x80, 0x06, 0x07, 0x0F):
            self.latch(controlword, self.read(0x6064, signed=True))
            self.robot.step()
        assert self.read(0x6041) == 5687

    def follow(self, ticks: int) -> None:
        """Let the target follow the measurement, as in DAMPING."""
        for _ in range(ticks):
            self.latch(0x0F, self.read(0x6064, signed=True))
            self.robot.step()

    def registers(self, *, position: int, velocity: int, integral: int = 0, gate: int = 1) -> None:
        self.write(0x2382, 1, position)
        self.write(0x2381, 1, velocity)
        self.write(0x2381, 2, integral)
        self.write(0x2382, 3, 0)  # velocity feed-forward
        self.write(0x2383, 0, gate)

    @property
    def angle(self) -> float:
        return float(self.robot.plant.position[0])

    @property
    def speed(self) -> float:
        return float(self.robot.plant.velocity[0])


def make_bench(
    *,
    drive: DriveParameters | None = None,
    inertia: Inertia | None = None,
    mounting: Mounting | None = None,
    position: float = 0.0,
) -> Bench:
    joint = JointParameters(
        inertia=inertia or Inertia(inertia=0.3),
        drive=drive or DriveParameters(),
        mounting=mounting or Mounting(),
        position=position,
    )
    return Bench(build_robot([joint]))


@pytest.fixture(name="make_bench", scope="session")
def _make_bench() -> Callable[..., Bench]:
    return make_bench


@pytest.fixture
def bench() -> Bench:
    return make_bench()
