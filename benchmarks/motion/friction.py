"""Measure friction maps: the error of a recorded map, and the effect of the compensation.

One joint of the virtual robot's plant has friction (0.5 to 0.9 Nm, by position and direction),
weight and, for breakaway, a Stribeck part. Its controller runs at 200 Hz. All times are simulated.
Tracking: a sine of 0.1 rad. Holding: at 0.1 rad, with 0.2 mrad of noise.

`--plots FOLDER` draws friction.svg, which docs/record_friction.md shows; it needs matplotlib.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import numpy as np
from test_support.friction_joint import (
    JOINT,
    RATE,
    FrictionJoint,
    bounds,
    planted,
    recorded_joint,
)

from benchmarks.motion.friction_plots import Plots
from benchmarks.support.figures import Figure, arguments, report, single
from humanoid_control_common.robot.joints import FloatArray
from humanoid_servo_controllers.controllers import PositionController
from humanoid_servo_controllers.friction_file import FrictionMaps, save_friction_maps
from humanoid_servo_controllers.friction_recording.breakaway import BreakawayRecording
from humanoid_servo_controllers.friction_recording.maps import friction_map
from humanoid_servo_controllers.friction_recording.sweep import SweepRecording
from humanoid_servo_controllers.servo.friction_map import FrictionMap

AMPLITUDE: Final = 0.1  # [rad]
TARGET: Final = 0.1  # [rad]
NOISE: Final = 0.0002  # [rad]
GAINS: Final = {"p": 20.0, "d": 0.5}
HUNTING: Final = {"p": 20.0, "i": 20.0, "d": 0.5, "i_clamp": 3.0}
STILL: Final = 0.001  # [Nm]


def main() -> None:
    """Entry point."""
    parser = arguments(__doc__)
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="draw friction.svg")
    options = parser.parse_args()
    quick, plots = options.quick, Plots()
    found: dict[str, Figure] = {}
    reach = 0.03 if quick else 0.2
    maps = {method: _record(method, reach, found, plots) for method in ("breakaway", "sweep")}
    with TemporaryDirectory() as folder:
        file = Path(folder) / "friction.yaml"
        content = FrictionMaps(date.today(), "breakaway", {JOINT: maps["breakaway"]})
        save_friction_maps(file, content)
        with_map = {"friction_map": str(file), "friction_deadband": 0.1}
        _compare_tracking(with_map, quick, found, plots)
        for deadband in (0.0, 0.003):
            name = "with deadband" if deadband else "without deadband"
            trace = _holding({**with_map, "deadband": deadband}, quick)
            plots.holding.append(trace)
            changes, starts, largest = _rates(trace)
            found[f"holding {name}: sign changes of the effort"] = single(changes, "1/min")
            found[f"holding {name}: starts of the motor"] = single(starts, "1/min")
            found[f"holding {name}: largest error"] = single(1e3 * largest, "mrad")
    if options.plots is not None:
        plots.draw(options.plots / "friction.svg")
    report("Friction", found, options.json)


def _record(method: Any, reach: float, found: dict[str, Figure], plots: Plots) -> FrictionMap:
    joint = recorded_joint(method, stribeck=method == "breakaway")
    passes = 3 if method == "breakaway" else 1
    kind = BreakawayRecording if method == "breakaway" else SweepRecording
    recording = kind(bounds(-reach, reach, passes=passes))
    joint.record(recording)
    points = 1 + round(reach / 0.05)
    result = friction_map(recording.samples, -reach, reach, points)
    known = planted()
    if method == "breakaway":
        plots.recorded, plots.planted, plots.samples = result, known, recording.samples
    errors = np.concatenate(
        [
            mine.efforts / np.interp(mine.positions, its.positions, its.efforts) - 1.0
            for mine, its in ((result.forward, known.forward), (result.backward, known.backward))
        ]
    )
    found[f"{method}: largest error of the map"] = single(100 * np.abs(errors).max(), "%")
    found[f"{method}: time to record {2 * reach:g} rad"] = single(joint.now, "s")
    return result


def _compare_tracking(
    with_map: dict[str, Any], quick: bool, found: dict[str, Figure], plots: Plots
) -> None:
    """Track without the map, with it, and with a compensation that does not fall with the speed."""
    steady = {**with_map, "friction_velocity_decay": 0.0}
    for peak in (0.01, 0.05):
        traces = [_tracking(more, peak, quick) for more in ({}, with_map, steady)]
        plots.tracking = traces[:2]
        alone, falling, level = (_rms(it[:, 1] - it[:, 2]) for it in traces)
        name = f"tracking at up to {peak:g} rad/s"
        found[f"{name}, alone"] = single(1e3 * alone, "mrad RMS")
        found[f"{name}, compensated"] = single(1e3 * falling, "mrad RMS")
        found[f"{name}, times better"] = single(alone / falling, "x")
        found[f"{name}, compensated without decay"] = single(1e3 * level, "mrad RMS")
        found[f"{name}, times better without decay"] = single(alone / level, "x")


def _tracking(more: dict[str, Any], peak: float, quick: bool) -> FloatArray:
    """Track at speeds up to `peak` [rad/s]; return time [s], target and position [rad], (n, 3)."""
    joint = FrictionJoint(PositionController, {"gains": GAINS, "deadband": 0.0, **more})
    rate = peak / AMPLITUDE  # [rad/s] of the sine
    period = 2.0 * np.pi / rate
    rows = []
    while joint.now < (0.1 if quick else 1.25) * period:
        target = AMPLITUDE * np.sin(rate * joint.now)
        joint.tick(target)
        rows.append((joint.now, target, joint.plant.position[0]))
    return np.array(rows)


def _rms(errors: FloatArray) -> float:
    """Return the root of the mean square, without the beginning."""
    return float(np.sqrt(np.mean(np.square(errors[len(errors) // 5 :]))))


def _holding(more: dict[str, Any], quick: bool) -> FloatArray:
    """Hold for ten minutes; return time [s], effort [Nm] and error [rad], (n, 3)."""
    joint = FrictionJoint(PositionController, {"gains": HUNTING, **more}, noise=NOISE)
    minutes = 0.05 if quick else 10.0
    joint.tick(TARGET)
    for _ in range(round(10.0 * RATE)):
        joint.tick(None)
    rows = []
    for _ in range(round(60.0 * RATE * minutes)):
        effort = joint.tick(None)
        rows.append((joint.now, effort, TARGET - joint.plant.position[0]))
    return np.array(rows)


def _rates(trace: FloatArray) -> tuple[float, float, float]:
    """Return sign changes and starts per minute and the largest error [rad] of `_holding`."""
    _, effort, error = trace.T
    minutes = len(trace) / RATE / 60.0
    driven = np.abs(effort) > STILL
    changes = np.count_nonzero(np.diff(np.sign(effort[driven])))
    starts = np.count_nonzero(driven[1:] & ~driven[:-1])
    return changes / minutes, starts / minutes, float(np.abs(error).max())


if __name__ == "__main__":
    main()
