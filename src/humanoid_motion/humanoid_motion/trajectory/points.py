"""The points of a trajectory as they are sent, and their checks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray, IndexArray, JointSet
from humanoid_motion.errors import MotionRefusedError, Refusal

# The check of the limits takes about 30 µs per point; the sender's other requests wait for it.
MOST_POINTS: Final = 1000
SHORTEST: Final = 1e-3  # [s] between two points: no loop is faster
NEAR: Final = 1e-4  # [rad] between two points of which one may be left out: no encoder tells them
LONGEST: Final = 86_400.0  # [s], a day
LARGEST: Final = 1e6  # [rad, rad/s, rad/s^2], far beyond every limit: no computation overflows
RESTS: Final = 1e-3  # [rad/s]: a last velocity below it is one at rest


class Point(NamedTuple):
    """One point as received; a list is empty if it is not given."""

    time: float  # [s] from the trajectory's beginning
    positions: Sequence[float]  # [rad], one per named joint
    velocities: Sequence[float] = ()  # [rad/s]
    accelerations: Sequence[float] = ()  # [rad/s^2]


@dataclass(frozen=True, slots=True)
class Points:
    """Checked points of k joints."""

    rows: IndexArray  # of the joints, (k,)
    times: FloatArray  # [s] ascending from 0 or later, (m,)
    positions: FloatArray  # [rad], (m, k)
    velocities: FloatArray | None  # [rad/s], (m, k)
    accelerations: FloatArray | None  # [rad/s^2], (m, k)


def checked_points(
    joints: JointSet, names: Sequence[str], points: Sequence[Point], *, partial: bool
) -> Points:
    """Return received points after checking them.

    Args:
        joints: those that may be named.
        names: of the moved joints, in any order.
        points: with values in the order of `names`.
        partial: whether some of `joints` may be left out.

    Raises MotionRefusedError that names point, joint, found and expected.
    """
    rows = _checked_rows(joints, names, partial=partial)
    if not 0 < len(points) <= MOST_POINTS:
        raise MotionRefusedError(f"{len(points)} points, expected 1 to {MOST_POINTS}")
    points = _with_one_end(points)
    times = _checked_times(points)
    positions = _checked_values("positions", names, points)
    velocities = _given("velocities", names, points)
    accelerations = _given("accelerations", names, points)
    if accelerations is not None and velocities is None:
        raise MotionRefusedError("point 0: accelerations without velocities, expected both")
    if velocities is not None:
        _refuse_moving_end(names, velocities[-1])
    return Points(rows, times, positions, velocities, accelerations)


def _checked_rows(joints: JointSet, names: Sequence[str], *, partial: bool) -> IndexArray:
    if not 0 < len(names) <= len(joints):
        text = f"{len(names)} joint names, expected 1 to {len(joints)}: {', '.join(joints.names)}"
        raise MotionRefusedError(text, Refusal.INVALID_JOINTS)
    try:
        rows = joints.indices(names)
    except ConfigError as error:
        raise MotionRefusedError(str(error), Refusal.INVALID_JOINTS) from error
    missing = [name for name in joints.names if name not in names]
    if missing and not partial:
        text = f"without {', '.join(missing)}: allow_partial_joints_goal is false, name all joints"
        raise MotionRefusedError(text, Refusal.INVALID_JOINTS)
    return rows


def _with_one_end(points: Sequence[Point]) -> Sequence[Point]:
    """Return `points` without the last but one if it is the end, too, less than SHORTEST before it.

    Planners sample at a fixed interval (MoveIt at 0.1 s); the rest before the end may be any time.
    """
    if len(points) < 3:
        return points
    *others, before, end = points
    short = 0.0 < end.time - before.time < SHORTEST
    same = len(before.positions) == len(end.positions) and np.allclose(
        before.positions, end.positions, rtol=0.0, atol=NEAR
    )
    return [*others, end] if short and same else points


def _checked_times(points: Sequence[Point]) -> FloatArray:
    times = np.array([point.time for point in points])
    least = 0.0 if len(points) > 1 else SHORTEST  # an only point takes time to be reached
    for i, time in enumerate(times.tolist()):
        if not least <= time <= LONGEST:
            raise MotionRefusedError(
                f"point {i}: time_from_start {time:g} s, expected {least:g} to {LONGEST:g} s"
                + (f": after point {i - 1}" if i else "")
            )
        least = time + SHORTEST
    return times


def _given(what: str, names: Sequence[str], points: Sequence[Point]) -> FloatArray | None:
    """Return velocities or accelerations; None if no point has them."""
    has = [len(getattr(point, what)) > 0 for point in points]
    if not any(has):
        return None
    if not all(has):
        text = f"point {has.index(False)}: no {what}, but point {has.index(True)} has them"
        raise MotionRefusedError(f"{text}: give them for all points, or for none")
    return _checked_values(what, names, points)


def _checked_values(what: str, names: Sequence[str], points: Sequence[Point]) -> FloatArray:
    for i, point in enumerate(points):
        count = len(getattr(point, what))
        if count != len(names):
            text = f"point {i}: {count} {what}, expected {len(names)}"
            raise MotionRefusedError(f"{text}: one for each of {', '.join(names)}")
    found = np.array([getattr(point, what) for point in points], dtype=np.float64)
    wrong = np.argwhere(~(np.abs(found) < LARGEST))
    if len(wrong):
        i, joint = wrong[0]
        raise MotionRefusedError(
            f"point {i}, {names[joint]}: {found[i, joint]} in {what}, expected a number below "
            f"{LARGEST:g}"
        )
    return found


def _refuse_moving_end(names: Sequence[str], velocity: FloatArray) -> None:
    moving = np.flatnonzero(np.abs(velocity) > RESTS)
    if moving.size:
        joint = moving[0]
        raise MotionRefusedError(
            f"last point, {names[joint]}: velocity {velocity[joint]:g} rad/s, expected 0"
        )
