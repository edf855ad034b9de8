"""A motion as an editable YAML file: written, read, and checked with line and joint."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

import numpy as np
import yaml
from pydantic import Field

from humanoid_control_common.configuration.config import Document, StrictModel, read_yaml, validate
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray, JointSet
from humanoid_motion.errors import MotionRefusedError
from humanoid_motion.trajectory.limits import MotionLimits
from humanoid_motion.trajectory.point_trajectory import trajectory_through
from humanoid_motion.trajectory.points import LONGEST, MOST_POINTS, SHORTEST, Points

FILE: Final = "motion.yaml"
LEADING: Final = 2  # points that an approach to the beginning has, see `Motion.played_from`
TIME_DIGITS: Final = 3  # of a second
ANGLE_DIGITS: Final = 4  # of a radian: 0.1 mm at an arm of 1 m
LEAST_LIMIT: Final = 1e-3  # [rad/s, rad/s^2]: the approach to the beginning takes hours at most
_ANY: Final = np.inf  # a limit that is not checked

Limit = Annotated[float, Field(ge=LEAST_LIMIT)]


class _Limits(StrictModel):
    velocity: Limit  # [rad/s]
    acceleration: Limit  # [rad/s^2]


class _Row(StrictModel):
    time: Annotated[float, Field(ge=0.0, le=LONGEST)]  # [s]
    positions: list[float]  # [rad]


class _File(StrictModel):
    robot: str
    recorded: str = ""
    limits: _Limits | None = None
    joints: Annotated[list[str], Field(min_length=1)]
    points: Annotated[list[_Row], Field(min_length=2, max_length=MOST_POINTS - LEADING)]


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """Points of a motion that begins and ends at rest.

    `velocity` [rad/s] and `acceleration` [rad/s^2] are the limits it was made for, of every joint;
    infinite in a file without limits: those of the joints and their controller apply.
    """

    robot: str  # name of its description
    recorded: str  # date; empty if it was written by hand
    velocity: float
    acceleration: float
    joints: tuple[str, ...]
    times: FloatArray  # [s] ascending from 0 or later, (m,)
    positions: FloatArray  # [rad], (m, k)

    @property
    def duration(self) -> float:
        """Time from the first to the last point [s]."""
        return float(self.times[-1] - self.times[0])


def motion_text(motion: Motion, head: str) -> str:
    """Return the text of a motion file; `head`: its first line, a comment."""
    rows = []
    for time, row in zip(motion.times.tolist(), motion.positions.tolist(), strict=True):
        angles = ", ".join(f"{it:.{ANGLE_DIGITS}f}" for it in row)
        rows.append(f"  - {{time: {time:.{TIME_DIGITS}f}, positions: [{angles}]}}")
    lines = [
        f"# {head}",
        f"robot: {_listed([motion.robot])[1:-1]}",
        f"recorded: '{motion.recorded}'",
        f"limits: {{velocity: {motion.velocity:.9g}, acceleration: {motion.acceleration:.9g}}}"
        "  # [rad/s], [rad/s^2] of every joint",
        f"joints: {_listed(motion.joints)}",
        "points:  # time [s], angles [rad] in the order of the joints",
        *rows,
    ]
    return "\n".join(lines) + "\n"


def _listed(names: Sequence[str]) -> str:
    """Return a list of YAML in one line; a name that YAML reads as something else is quoted."""
    return yaml.safe_dump(
        list(names), default_flow_style=True, width=math.inf, allow_unicode=True
    ).removesuffix("\n")


@dataclass(frozen=True, slots=True)
class MotionFile:
    """A motion, and where its points are in the file."""

    motion: Motion
    document: Document

    def refused(self, point: int, joint: str, text: str) -> ConfigError:
        """Return the error about `joint` of a point; an empty joint is left out."""
        where = self.document.where(("points", point))
        named = f"{joint}: " if joint else ""
        return ConfigError(f"{where}: points[{point}]: {named}{text}")

    def check(self, joints: JointSet, lower: FloatArray, upper: FloatArray, speed: float) -> None:
        """Check that a robot can play it at `speed` times its own.

        Args:
            joints: of the robot.
            lower: of their range [rad], (n,).
            upper: the same.
            speed: above 0.

        Raises ConfigError naming file, line, point and joint, what was found and what is expected.
        """
        motion = self.motion
        unknown = [name for name in motion.joints if name not in joints.names]
        if unknown:
            raise ConfigError(
                f"{self.document.where(('joints',))}: the robot has no joint "
                f"{', '.join(unknown)}; it has {', '.join(joints.names)}"
            )
        rows = joints.indices(motion.joints)
        beyond = (motion.positions < lower[rows]) | (motion.positions > upper[rows])
        for point, column in np.argwhere(beyond)[:1].tolist():
            row = rows[column]
            raise self.refused(
                point,
                motion.joints[column],
                f"{motion.positions[point, column]:.4g} rad, expected "
                f"{lower[row]:.4g} to {upper[row]:.4g} rad",
            )
        self._check_speed(speed)

    def _check_speed(self, speed: float) -> None:
        motion = self.motion
        every = np.ones(len(motion.joints))
        limits = MotionLimits(
            -_ANY * every,
            _ANY * every,
            motion.velocity * every,
            motion.acceleration * every,
            _ANY * every,
        )
        start = np.zeros((3, len(motion.joints)))
        start[0] = motion.positions[0]
        rows = np.arange(len(motion.joints))
        times = (motion.times - motion.times[0]) / speed
        points = Points(rows, times, motion.positions, None, None)
        try:
            trajectory_through(start, points, limits, JointSet(motion.joints), _ANY)
        except MotionRefusedError as error:
            scaled = "" if speed == 1.0 else f"at speed {speed:g}: "
            where = self.document.where(("points", error.point or 0))
            raise ConfigError(f"{where}: {scaled}{error}") from error


def is_motion(document: Document) -> bool:
    """Return whether a YAML file is meant as a motion: it has points."""
    return isinstance(document.content, dict) and "points" in document.content


def read_motion(path: Path) -> MotionFile:
    """Return the motion in file `path`.

    Raises ConfigError that names file, line and key: not YAML, unknown or missing keys, numbers
    that are not finite, a joint named twice, times that do not ascend, a wrong number of angles.
    """
    document = read_yaml(path)
    found = validate(_File, document)
    _refuse_twice(found.joints, document)
    before = -SHORTEST
    for i, row in enumerate(found.points):
        where = document.where(("points", i))
        if len(row.positions) != len(found.joints):
            raise ConfigError(
                f"{where}: points[{i}]: {len(row.positions)} positions, expected "
                f"{len(found.joints)}: one for each joint"
            )
        if row.time < before + SHORTEST:
            raise ConfigError(
                f"{where}: points[{i}]: time {row.time:g} s, expected {before + SHORTEST:g} s or "
                f"more: after points[{i - 1}]"
            )
        before = row.time
    motion = Motion(
        found.robot,
        found.recorded,
        found.limits.velocity if found.limits else _ANY,
        found.limits.acceleration if found.limits else _ANY,
        tuple(found.joints),
        np.array([row.time for row in found.points]),
        np.array([row.positions for row in found.points]),
    )
    return MotionFile(motion, document)


def _refuse_twice(joints: Sequence[str], document: Document) -> None:
    for i, name in enumerate(joints):
        if name in joints[:i]:
            raise ConfigError(f"{document.where(('joints', i))}: joint '{name}' is named twice")
