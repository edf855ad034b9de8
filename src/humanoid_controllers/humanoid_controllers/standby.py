"""STANDBY: from wherever the robot is, through a sequence of poses, to a pose it holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from humanoid_control_common.config import StrictModel
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.joints import FloatArray
from humanoid_control_common.modes import Mode
from humanoid_control_common.surface import Capability, JointCommand, JointState
from humanoid_controller_manager.controller import Progress, RobotFacts


class Pose(StrictModel):
    """One pose and the time to reach it."""

    duration: float = Field(gt=0.0, allow_inf_nan=False)  # [s]
    positions: list[float]  # [rad], one per joint, in joint order


class StandbyParameters(StrictModel):
    """Parameters of the STANDBY controller."""

    stiffness: float = Field(gt=0.0, allow_inf_nan=False)  # [Nm/rad]
    damping: float = Field(gt=0.0, allow_inf_nan=False)  # [Nm*s/rad]
    sequence: list[str] = Field(min_length=1)  # names of `poses`, in the order they are visited
    poses: dict[str, Pose]


class StandbyController:
    """Linear interpolation from the measured pose through the sequence, then hold.

    In the first segment the stiffness ramps from 0 to its target and the damping from the value in
    force to its target, so that a damped joint never goes limp and a sagged arm is not snatched up.
    """

    Parameters = StandbyParameters
    mode: ClassVar[Mode] = Mode.STANDBY
    needs: ClassVar[Mapping[str, Capability]] = {
        "position": Capability.PER_TICK,
        "stiffness": Capability.PER_MODE,
        "damping": Capability.PER_MODE,
    }

    def on_configure(self, parameters: StandbyParameters, robot: RobotFacts) -> None:
        """See Controller. Raises ConfigError for an unknown pose, a wrong size or a joint limit."""
        self._stiffness = parameters.stiffness
        self._damping = parameters.damping
        waypoints = [_checked_pose(name, parameters.poses, robot) for name in parameters.sequence]
        durations = [parameters.poses[name].duration for name in parameters.sequence]
        # Row 0 is the measured pose, filled at activation.
        self._waypoints = np.vstack([np.zeros(len(robot.joints)), *waypoints])
        self._times = np.concatenate([[0.0], np.cumsum(durations)])  # [s] since activation
        self._start_damping = np.zeros(len(robot.joints))
        self._started = 0.0
        self._elapsed = 0.0

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """See Controller."""
        self._waypoints[0] = state.position
        self._start_damping[:] = command.damping
        self._started = now
        self._elapsed = 0.0

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """See Controller."""
        self._elapsed = now - self._started
        segment = self._segment()
        begin, end = self._times[segment], self._times[segment + 1]
        blend = min((self._elapsed - begin) / (end - begin), 1.0)
        here, there = self._waypoints[segment], self._waypoints[segment + 1]
        command.position[:] = here + blend * (there - here)
        command.velocity[:] = (there - here) / (end - begin) if blend < 1.0 else 0.0
        command.effort[:] = 0.0
        ramp = blend if segment == 0 else 1.0
        command.stiffness[:] = ramp * self._stiffness
        command.damping[:] = self._start_damping + ramp * (self._damping - self._start_damping)

    def on_deactivate(self) -> None:
        """See Controller."""

    @property
    def progress(self) -> Progress:
        """See ReportsProgress."""
        fraction = min(self._elapsed / self._times[-1], 1.0)
        return Progress(self._segment(), len(self._times) - 1, float(fraction))

    def _segment(self) -> int:
        """Index of the segment at the elapsed time; the last one after the end."""
        after = int(np.searchsorted(self._times, self._elapsed, side="right")) - 1
        return min(max(after, 0), len(self._times) - 2)


def _checked_pose(name: str, poses: Mapping[str, Pose], robot: RobotFacts) -> FloatArray:
    if name not in poses:
        raise ConfigError(f"sequence: unknown pose '{name}'; known: {', '.join(poses)}")
    positions = np.array(poses[name].positions)
    if len(positions) != len(robot.joints):
        raise ConfigError(
            f"poses.{name}.positions has {len(positions)} values, expected one for each of the "
            f"{len(robot.joints)} joints: {', '.join(robot.joints.names)}"
        )
    limits = robot.limits
    outside = ~((positions >= limits.lower) & (positions <= limits.upper))
    if outside.any():
        found = "; ".join(
            f"{joint} {value:g} rad, allowed {low:g} to {high:g}"
            for joint, value, low, high, bad in zip(
                robot.joints.names, positions, limits.lower, limits.upper, outside, strict=True
            )
            if bad
        )
        raise ConfigError(f"poses.{name}.positions outside the joint limits: {found}")
    return positions
