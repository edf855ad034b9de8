"""The MIT law of the documents, the measured commands and modes, and their measurement."""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from math import pi
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest
import yaml

from humanoid_control_common.robot.joints import FloatArray, JointLimits
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware import result_checks
from humanoid_controller_manager.hardware_component import (
    HardwareComponent,
    HardwareInfo,
    JointInfo,
)

COUNT = 2 * pi / 65536  # [rad] of a Sito encoder; an eRob has 8 counts for each
CONFIG = Path(__file__).resolve().parents[2] / "config" / "prime_controllers.yaml"


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table of the command surface: five numbers for a joint."""

    name: str
    position: float  # [rad]
    velocity: float  # [rad/s]
    effort: float  # [Nm]
    stiffness: float  # [Nm/rad]
    damping: float  # [Nm s/rad]

    def law(self, position: float, velocity: float) -> float:
        """Return the torque [Nm] at a joint in this state."""
        spring = self.stiffness * (self.position - position)
        return spring + self.damping * (self.velocity - velocity) + self.effort

    def fill(self, command: JointCommand) -> None:
        """The same five numbers for every joint."""
        for name in ("position", "velocity", "effort", "stiffness", "damping"):
            getattr(command, name)[:] = getattr(self, name)


ROWS = [
    Row("position only", 0.35, 0.0, 0.0, 20.0, 2.0),
    Row("computed torque", 0.31, 0.6, 1.5, 15.0, 1.2),
    Row("damping only", 0.9, 0.0, 0.0, 0.0, 4.0),
    Row("pure torque", 0.9, 0.5, 2.25, 0.0, 0.0),
    Row("zero torque", 0.0, 0.0, 0.0, 0.0, 0.0),
]


@pytest.fixture(params=ROWS, ids=lambda row: row.name.replace(" ", "-"))
def row(request: pytest.FixtureRequest) -> Row:
    """Each row of the command surface."""
    row: Row = request.param
    return row


@pytest.fixture(scope="session")
def known_state() -> tuple[float, float]:
    """Position [rad] and velocity [rad/s]: whole counts, so that only the wire rounds."""
    return 2500 * COUNT, -4000 * COUNT


@dataclass(frozen=True, slots=True)
class Nominal:
    """The documents' requirements for a mode."""

    mode: Mode
    stiffness: float  # [Nm/rad]
    damping: float  # [Nm s/rad]

    @property
    def row(self) -> Row:
        """The mode's command with the joint's target at 0."""
        return Row(self.mode.name, 0.0, 0.0, 0.0, self.stiffness, self.damping)


NOMINAL = [
    Nominal(Mode.ZERO_TORQUE, 0.0, 0.0),
    Nominal(Mode.DAMPING, 0.0, 6.0),
    Nominal(Mode.STANDBY, 20.0, 2.0),
    Nominal(Mode.LOCOMOTION, 20.0, 2.0),
    Nominal(Mode.REMOTE, 20.0, 2.0),
]


@pytest.fixture(params=NOMINAL, ids=lambda nominal: nominal.mode.name)
def nominal(request: pytest.FixtureRequest) -> Nominal:
    """Each mode with the gains of the documents."""
    nominal: Nominal = request.param
    return nominal


@pytest.fixture(scope="session")
def nominal_of() -> dict[Mode, Nominal]:
    """The gains of the documents by mode."""
    return {nominal.mode: nominal for nominal in NOMINAL}


@pytest.fixture(scope="session")
def nominal_row() -> Callable[[float, float], Row]:
    """Makes commands with a stiffness and damping, target 0."""
    return lambda stiffness, damping: Row("", 0.0, 0.0, 0.0, stiffness, damping)


@pytest.fixture(scope="session")
def shipped() -> dict[str, dict[str, object]]:
    """Shipped parameters of the nodes of Prime."""
    content = yaml.safe_load(CONFIG.read_text())
    return {node: entry["ros__parameters"] for node, entry in content.items()}


class Specimens(Protocol):
    """Joints with their motors, by the truth of the plant. Arrays have an entry per joint."""

    settling: float  # [s] until the slowest of them has come to rest
    undisturbed: AbstractContextManager[
        object
    ]  # in this context time passes in `torque_at` and `run` only

    def torque_at(self, position: float, velocity: float) -> FloatArray:
        """Torques [Nm] of the motors while the joints are held in a state [rad, rad/s]."""

    def place(self, position: float, velocity: float) -> None:
        """Set all joints to a position and velocity and release them."""

    def load(self, torque: float) -> None:
        """Apply an external torque [Nm] to each joint."""

    def run(self, seconds: float) -> tuple[FloatArray, FloatArray]:
        """Positions and velocities every 20 ms, shape (samples, joints)."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Gains at the joints."""

    stiffness: FloatArray  # [Nm/rad]
    damping: FloatArray  # [Nm s/rad]

    def of(self, joint: int) -> tuple[float, float]:
        """Stiffness and damping of one joint."""
        return float(self.stiffness[joint]), float(self.damping[joint])


class GainMeasurement:
    """Measures the gains of joints whose target is at 0, without reading their motors."""

    PERIOD = 0.02  # [s] between two samples of specimens

    def held(self, joints: Specimens) -> Measured:
        """Stiffness from a held offset, damping from a held speed."""
        offset, speed = 800 * COUNT, 4000 * COUNT
        return Measured(
            -joints.torque_at(offset, 0.0) / offset, -joints.torque_at(0.0, speed) / speed
        )

    def loaded(self, joints: Specimens, nominal: Nominal) -> Measured:
        """Measure by the motion under a known torque, which the mode permits."""
        if nominal.stiffness:
            return self.deflected(joints, 2.0)
        if nominal.damping:
            damping = self.drifting(joints, 3.0)
            return Measured(np.zeros_like(damping), damping)
        return self.coasting(joints)

    def deflected(self, joints: Specimens, load: float) -> Measured:
        """Measure stiffness by the deflection under a load, damping by the decay without it.

        All of the spring's energy ends in the damper: 1/2 load deflection = damping ∫ v² dt.
        """
        with joints.undisturbed:
            joints.place(0.0, 0.0)
            joints.load(load)
            positions, at_rest = joints.run(joints.settling)
            joints.load(0.0)
            _, speeds = joints.run(joints.settling)
        assert (np.abs(at_rest[-1]) < 2e-3).all()  # [rad/s]
        deflection = positions[-1]
        work = np.sum(speeds**2, axis=0) * self.PERIOD
        return Measured(load / deflection, 0.5 * load * deflection / work)

    def drifting(self, joints: Specimens, load: float) -> FloatArray:
        """Damping from the steady velocity under a load."""
        with joints.undisturbed:
            joints.place(0.0, 0.0)
            joints.load(load)
            _, speeds = joints.run(0.8)
            joints.load(0.0)
            joints.place(0.0, 0.0)
        np.testing.assert_allclose(speeds[-1], speeds[-2], rtol=1e-3)
        return np.asarray(load / speeds[-1])

    def coasting(self, joints: Specimens) -> Measured:
        """Without stiffness and damping a joint released off its target keeps its speed exactly."""
        with joints.undisturbed:
            joints.place(0.2, 0.5)
            _, speeds = joints.run(0.8)
            joints.place(0.0, 0.0)
        assert (speeds == 0.5).all()
        return Measured(np.zeros(speeds.shape[1]), np.zeros(speeds.shape[1]))


@pytest.fixture(scope="session")
def measurement() -> GainMeasurement:
    return GainMeasurement()


@dataclass
class Table:
    """Lines of numbers, shown with -s."""

    title: str
    columns: tuple[str, ...]
    lines: list[tuple[object, ...]] = field(default_factory=list)

    def add(self, *line: object) -> None:
        self.lines.append(line)

    def add_mode(
        self, nominal: Nominal, joint: str, held: tuple[float, float], loaded: tuple[float, float]
    ) -> None:
        """Stiffness and damping of one joint in a mode, measured in two ways."""
        asked = nominal.stiffness, nominal.damping
        ratios = (h / a if a else "-" for h, a in zip(held, asked, strict=True))
        by_gain = zip(asked, held, loaded, strict=True)
        self.add(nominal.mode.name, joint, *(value for gain in by_gain for value in gain), *ratios)

    def __str__(self) -> str:
        lines = [tuple(_text(value) for value in line) for line in (self.columns, *self.lines)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        rows = ("  ".join(v.ljust(w) for v, w in zip(line, widths, strict=True)) for line in lines)
        return "\n".join(("", self.title, *rows))


def _text(value: object) -> str:
    return f"{round(value, 4) + 0.0:.4f}" if isinstance(value, float) else str(value)


def _shown(title: str, *columns: str) -> Iterator[Table]:
    table = Table(title, columns)
    yield table
    sys.stdout.write(f"{table}\n")


@pytest.fixture(scope="session")
def law_table() -> Iterator[Table]:
    """Print the torque of the same five numbers on every back end."""
    yield from _shown(
        "One command on every back end: torque at the joint [Nm]",
        "command", "back end", "law", "measured", "difference", "bound",
    )  # fmt: skip


@pytest.fixture(scope="session")
def wrist_table() -> Iterator[Table]:
    """Print the effect of the divisors of Sito gains."""
    yield from _shown(
        "Gains of a wrist by its divisors, of those asked for",
        "divisors", "measured by", "documents", "measured", "reversed",
    )  # fmt: skip


@pytest.fixture(scope="session")
def mode_table() -> Iterator[Table]:
    """The gains of every mode."""
    yield from _shown(
        "Gains of every mode, measured at the joint [Nm/rad, Nm s/rad]",
        "mode", "joint", "kp", "held", "loaded", "kd", "held", "loaded", "kp ratio", "kd ratio",
    )  # fmt: skip


@pytest.fixture(scope="session")
def block_info() -> Callable[..., HardwareInfo]:
    """Makes the block of joints j0, j1, … with these parameters."""

    def make(
        parameters: dict[str, str],
        joints: Sequence[dict[str, str]],
        *,
        plugin: str = "",
        urdf: str = "<robot/>",
        initial: float = 0.0,
        update_rate: float = 50.0,
    ) -> HardwareInfo:
        ones: FloatArray = np.ones(len(joints))
        return HardwareInfo(
            name="Bench",
            plugin=plugin,
            parameters=parameters,
            joints=tuple(JointInfo(f"j{i}", dict(p), initial) for i, p in enumerate(joints)),
            limits=JointLimits(-3.0 * ones, 3.0 * ones, 3.0 * ones, 5.0 * ones),
            update_rate=update_rate,
            urdf=urdf,
        )

    return make


@pytest.fixture(scope="session")
def check_results() -> Callable[[HardwareComponent, int, float], None]:
    """Let the checks of the control loop check every result of a component of n joints."""

    def check(system: HardwareComponent, joint_count: int, period: float) -> None:
        checks = result_checks.ResultChecks("Bench", joint_count, period)
        checks.effort_limit(system.effort_limit(np.zeros(joint_count)))
        checks.realized_stiffness(system.realized_stiffness())
        checks.watchdog_times(system.watchdog_times())
        checks.capabilities(system.capabilities())
        checks.tick_correction(system.tick_correction())
        result_checks.impedance_confirmed(system.impedance_confirmed())
        checks.safety(system.safety())
        names = result_checks.counter_names(system.counter_names)
        layout = struct.Struct(f"@{len(names)}q")
        result_checks.bus_counts(layout, len(names))(system.bus_counts())
        assert result_checks.diagnose(system.diagnose())
        assert result_checks.exit_check(system.exit_check)
        for duty in ("sample_age", "teleports"):
            result_checks.finite_number(system, duty, 0.0)

    return check
