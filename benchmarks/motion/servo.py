"""Measure a tick of the servo controllers for 1, 20 and 100 joints.

All joints move. They have friction maps of 20 points, an integral and a derivative part. Every
tenth tick makes a report. A new command arrives every tenth tick, as from a client at 100 Hz.
"""

from __future__ import annotations

import gc
import time
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.support.figures import Figure, arguments, figure, report
from humanoid_control_common.robot.joints import JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.controller import RobotFacts
from humanoid_servo_controllers.controllers import (
    EffortController,
    MixedPositionVelocityController,
    PositionController,
    ServoController,
    VelocityController,
)
from humanoid_servo_controllers.friction_file import FrictionMaps, save_friction_maps
from humanoid_servo_controllers.servo.friction_map import FrictionCurve, FrictionMap

if TYPE_CHECKING:
    from collections.abc import Mapping

PERIOD: Final = 1e-3  # [s]
COMMANDED: Final = 10  # ticks between two commands
LAP: Final = 2000  # ticks in which each joint goes forth and back
CLOCK = time.perf_counter
KINDS: Final[Mapping[str, type[ServoController]]] = {
    "effort": EffortController,
    "velocity": VelocityController,
    "position": PositionController,
    "mixed": MixedPositionVelocityController,
}


def friction_file(folder: Path, names: tuple[str, ...]) -> Path:
    """Write maps of 20 points for all joints; return the file."""
    positions = np.linspace(-1.0, 1.0, 20)
    efforts = 0.3 + 0.1 * np.sin(5.0 * positions)
    both = FrictionMap(FrictionCurve(positions, efforts, 1), FrictionCurve(positions, -efforts, -1))
    file = folder / "friction.yaml"
    save_friction_maps(
        file, FrictionMaps(date(2026, 11, 24), "by hand", dict.fromkeys(names, both))
    )
    return file


def controller(kind: type[ServoController], count: int, folder: Path) -> ServoController:
    """Return a configured controller of `count` joints."""
    names = tuple(f"joint_{i}" for i in range(count))
    ones = np.ones(count)
    limits = JointLimits(-2.0 * ones, 2.0 * ones, 3.0 * ones, 5.0 * ones)
    given: dict[str, object] = {"friction_map": str(friction_file(folder, names))}
    if kind is not EffortController:
        given["gains"] = {"p": 20.0, "i": 10.0, "d": 0.1, "i_clamp": 2.0}
    found = kind()
    found.on_configure(
        kind.Parameters.model_validate(given), RobotFacts(JointSet(names), limits, 1.0 / PERIOD)
    )
    return found


def ticks(servo: ServoController, count: int) -> list[float]:
    """Return the durations [s] of `count` ticks on joints that move."""
    joints = len(servo.joints)
    generator = np.random.default_rng(1)
    phases = generator.uniform(0.0, 2.0 * np.pi, joints)
    states = []
    for i in range(LAP):
        state, angle = JointState(joints), 2.0 * np.pi * i / LAP + phases
        state.position[:] = 0.5 * np.sin(angle)
        state.velocity[:] = 0.5 * np.cos(angle) * 2.0 * np.pi / (LAP * PERIOD)
        states.append(state)
    command, now = JointCommand(joints), 0.0
    servo.on_activate(states[0], command, now)
    samples = []
    for i in range(count):
        if i % COMMANDED == 0:
            servo.receive(generator.uniform(-0.5, 0.5, joints), now)
        state = states[i % len(states)]
        begin = CLOCK()
        servo.update(state, command, now, PERIOD)
        samples.append(CLOCK() - begin)
        now += PERIOD
    return samples


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    count = 200 if options.quick else 20_000
    found: dict[str, Figure] = {}
    gc.disable()
    with TemporaryDirectory() as folder:
        for joints in (1, 20, 100):
            for name, kind in KINDS.items():
                samples = ticks(controller(kind, joints, Path(folder)), count)
                found[f"tick, {name}, {joints} joints"] = figure(samples, "us", 1e6)
    report("Servo controllers", found, options.json)


if __name__ == "__main__":
    main()
