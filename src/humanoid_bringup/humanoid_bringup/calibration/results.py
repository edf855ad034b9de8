"""New calibration of each joint, with warnings."""

import math
from dataclasses import dataclass
from typing import Final

from humanoid_bringup.calibration.formulas import (
    SMALLEST_SWEEP,
    Interval,
    JointCalibration,
    flipped,
    swept,
)

# Of the URDF's range: how far a sweep to both stops may be off without a remark.
TOLERANCE: Final = 0.05


@dataclass(frozen=True, slots=True)
class JointResult:
    """One joint."""

    joint: str
    calibration: JointCalibration
    changed: bool  # by a sweep or a flip
    origin: str  # in words, for the file
    sweep: Interval | None  # raw [rad]; None if the joint was never recorded
    coverage: float | None  # sweep as a part of the URDF's range
    warnings: tuple[str, ...]


def joint_result(
    joint: str, prior: JointCalibration, sweep: Interval | None, limits: Interval, *, flip: bool
) -> JointResult:
    """Return direction and offset from `sweep`, or the `prior` ones if it is too short.

    `flip`: the direction is the other one than the prior calibration has.
    """
    calibration = flipped(prior, limits) if flip else prior
    origin = "direction flipped" if flip else "kept"
    used = sweep is not None and sweep.width >= SMALLEST_SWEEP
    if sweep is not None and used:
        calibration = swept(sweep, limits, calibration.direction)
        origin = f"swept {sweep.width:.3f} of {limits.width:.3f} rad" + (
            ", direction flipped" if flip else ""
        )
    return JointResult(
        joint=joint,
        calibration=calibration,
        changed=flip or used,
        origin=origin,
        sweep=sweep,
        coverage=sweep.width / limits.width if sweep else None,
        warnings=tuple(_warnings(calibration, sweep if used else None, limits)),
    )


def _warnings(calibration: JointCalibration, sweep: Interval | None, limits: Interval) -> list[str]:
    found = []
    if abs(calibration.homing_offset) > math.pi:
        found.append(
            f"homing offset {calibration.homing_offset:+.2f} rad is beyond ±π: is the direction "
            f"{calibration.direction:+d} the wrong one?"
        )
    if sweep is not None:
        found += _about_the_range(calibration.direction, sweep, limits)
    return found


def _about_the_range(direction: int, sweep: Interval, limits: Interval) -> list[str]:
    found = []
    sampled = sweep.directed(direction)
    if not sampled.overlaps(limits):
        other = sweep.directed(-direction).overlaps(limits)
        found.append(
            f"sampled {sampled}, which misses the URDF's {limits}: "
            + ("is the direction the wrong one?" if other else "check the direction")
        )
    part = sweep.width / limits.width
    if part < 1.0 - TOLERANCE:
        found.append(f"only {part:.0%} of the URDF's range: were both stops reached?")
    elif part > 1.0 + TOLERANCE:
        found.append(f"{part:.0%} of the URDF's range: is it this joint, and where are its stops?")
    return found
