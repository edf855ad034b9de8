"""STANDBY: from the present pose through a sequence of poses to the last one, which is held."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Annotated, ClassVar, Final

import numpy as np
from pydantic import AllowInfNan, Field

from humanoid_control_common.configuration.config import StrictModel
from humanoid_control_common.errors import ConfigError, ControllerError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import Capability, JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import Controller, ModeGains, Progress, RobotFacts
from humanoid_controllers.ramped_motion import RAMP, ramp_within, ramped
from humanoid_motion.trajectory.time_scaling import made

RECOVERY: Final = 0.5  # [s] in which a motion that was held back recovers its speed
FASTEST_MEAN: Final = 0.95  # of the velocity limit: the rest of the time is for the ramps


class Pose(StrictModel):
    """One pose and the time to reach it."""

    duration: float = Field(gt=0.0, description="Time of the motion to it [s].")
    positions: list[Annotated[float, AllowInfNan(True)]] = Field(  # refused with the joint's name
        description="One per joint, in joint order [rad]."
    )


class StandbyParameters(StrictModel):
    """Parameters of the STANDBY controller."""

    stiffness: float = Field(gt=0.0, description="Stiffness [Nm/rad].")
    damping: float = Field(gt=0.0, description="Damping [Nm*s/rad].")
    sequence: list[str] = Field(
        min_length=1, description="Names of `poses`, in the order they are visited."
    )
    poses: dict[str, Pose] = Field(description="Poses of the sequence, by name.")


class StandbyController(Controller):
    """Moves from the measured pose through the sequence, then holds. It rests at each pose.

    Each motion is a straight line in joint space, without a step of the speed.
    A motion that is held back waits, and continues from the target it has reached.
    In the first segment the stiffness ramps from 0 to its target and the damping from the value in
    force to its target, so that a damped joint never goes limp and a sagged arm does not jerk.
    """

    Parameters = StandbyParameters
    mode: ClassVar[Mode] = Mode.STANDBY
    needs: ClassVar[Mapping[str, Capability]] = {
        "position": Capability.PER_TICK,
        "stiffness": Capability.PER_MODE,
        "damping": Capability.PER_MODE,
    }

    def on_configure(self, parameters: StandbyParameters, robot: RobotFacts) -> None:
        """See Controller.

        Raises ConfigError for an unknown pose, a wrong size, a joint or velocity limit.
        """
        self._stiffness = parameters.stiffness
        self._damping = parameters.damping
        self._gains = ModeGains(parameters.stiffness, parameters.damping)
        waypoints = [_checked_pose(name, parameters.poses, robot) for name in parameters.sequence]
        durations = [parameters.poses[name].duration for name in parameters.sequence]
        _check_speeds(parameters.sequence, waypoints, durations, robot)
        # Row 0 is the measured pose, filled at activation.
        self._waypoints = np.vstack([np.zeros(len(robot.joints)), *waypoints])
        self._distances = np.zeros((len(waypoints), len(robot.joints)))  # [rad] from pose to pose
        self._configured = durations  # [s] of each motion
        self._durations = durations  # [s] the same; a distant begin makes the first one longer
        self._ramps = [RAMP] * len(durations)  # of each motion, see `ramped`
        self._ends = list(accumulate(durations))  # [s] since activation
        self._velocity_limit = robot.limits.velocity
        self._path_check = robot.path_check and robot.path_check()
        self._names = parameters.sequence
        self._start_damping = np.zeros(len(robot.joints))
        # No velocity is commanded where it cannot act; gains that are set per mode have no ramp.
        self._has_velocity = robot.acts_per_tick("velocity").astype(np.float64)
        self._is_ramped = robot.acts_per_tick("stiffness") & robot.acts_per_tick("damping")
        self._is_set_per_mode = ~self._is_ramped
        self._speeds = np.zeros_like(self._distances)  # [rad] of each motion, where velocity acts
        self._target = np.zeros(len(robot.joints))  # [rad]: of the latest tick
        self._target_before = np.zeros(len(robot.joints))  # [rad]: of the tick before
        self._entered = self._began = self._latest = 0.0  # [s]
        self._elapsed = 0.0  # [s] in the motion, in the latest tick
        self._elapsed_before = 0.0  # [s] the same in the tick before
        self._rate = 1.0  # at which time passes in the motion; below 1 after it was held back

    def check_start(self, state: JointState, now: float) -> None:
        """See Controller. Raises ControllerError for links that would come too near."""
        if self._path_check is None:
            return
        path = np.vstack([state.position, self._waypoints[1:]])
        conflict = self._path_check.conflict(path)
        if conflict is not None:
            name = self._names[min(conflict.sample, len(self._names) - 1)]
            raise ControllerError(
                f"on the way to pose '{name}' {self._path_check.refusal(conflict)}: move the arms "
                "apart by hand, in DAMPING"
            )

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """See Controller."""
        self._waypoints[0] = state.position
        np.subtract(self._waypoints[1:], self._waypoints[:-1], out=self._distances)
        np.multiply(self._distances, self._has_velocity, out=self._speeds)
        # The first segment begins at any pose: from a distant one it takes longer than configured.
        # [s] of each motion at the speed limit.
        times = (np.abs(self._distances) / self._velocity_limit).max(axis=1)
        shortest = float(times[0]) / FASTEST_MEAN
        self._durations = [max(self._configured[0], shortest), *self._configured[1:]]
        means = [float(time) / it for time, it in zip(times, self._durations, strict=True)]
        self._ramps = [ramp_within(mean) for mean in means]
        self._ends = list(accumulate(self._durations))
        self._start_damping[:] = command.damping
        self._entered = self._began = self._latest = now
        self._elapsed = self._elapsed_before = 0.0
        self._rate = 1.0
        self._target_before[:] = self._target[:] = state.position

    def on_held_back(self, target: FloatArray, why: str) -> None:
        """See Controller. The motion continues from there, and recovers its speed."""
        part = made(self._target_before, self._target, target)
        self._target[:] = self._target_before + part * (self._target - self._target_before)
        self._elapsed = self._elapsed_before + part * (self._elapsed - self._elapsed_before)
        self._rate = min(self._rate, part)

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """See Controller."""
        self._advance_time(now)
        segment = self._segment()
        duration = self._durations[segment]
        remaining = max(self._ends[segment] - self._elapsed, 0.0)  # [s]
        part = ramped(1.0 - remaining / duration, self._ramps[segment])
        position, damping = command.position, command.damping
        np.multiply(self._distances[segment], part.travelled - 1.0, out=position)
        np.add(position, self._waypoints[segment + 1], out=position)
        np.multiply(self._speeds[segment], self._rate * part.speed / duration, out=command.velocity)
        command.effort.fill(0.0)
        self._target_before[:], self._target[:] = self._target, position
        # By the clock: arms that are held back get stiff, too.
        ramp = min((now - self._entered) / self._durations[0], 1.0)
        command.stiffness.fill(self._stiffness)
        np.copyto(command.stiffness, ramp * self._stiffness, where=self._is_ramped)
        np.multiply(self._start_damping, 1.0 - ramp, out=damping)
        np.add(damping, ramp * self._damping, out=damping)
        np.copyto(damping, self._damping, where=self._is_set_per_mode)

    @property
    def gains(self) -> ModeGains:
        """See Controller."""
        return self._gains

    @property
    def progress(self) -> Progress:
        """See Controller."""
        fraction = min(self._elapsed / self._ends[-1], 1.0)
        return Progress(self._segment(), len(self._ends), fraction)

    def _advance_time(self, now: float) -> None:
        """Let time pass in the motion: as on the clock, unless the motion was held back lately."""
        self._elapsed_before = self._elapsed
        if self._rate < 1.0:
            passed = now - self._latest
            self._rate = min(self._rate + passed / RECOVERY, 1.0)
            self._began = now - (self._elapsed + self._rate * passed)
        self._elapsed = now - self._began
        self._latest = now

    def _segment(self) -> int:
        """Return the index of the segment at the elapsed time; after the end the last one."""
        return min(bisect_right(self._ends, self._elapsed), len(self._ends) - 1)


def _check_speeds(
    names: Sequence[str],
    waypoints: Sequence[FloatArray],
    durations: Sequence[float],
    robot: RobotFacts,
) -> None:
    """Raise ConfigError if a segment between two poses is faster than a joint's velocity limit."""
    for i in range(1, len(names)):
        speed = np.abs(waypoints[i] - waypoints[i - 1]) / durations[i]
        if (speed > robot.limits.velocity).any():
            joints = robot.joints.named(speed > robot.limits.velocity)
            raise ConfigError(
                f"poses.{names[i]}.duration is {durations[i]:g} s: faster from '{names[i - 1]}' "
                f"than the velocity limit of {joints}"
            )


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
    lower, upper = limits.target_lower, limits.target_upper
    outside = ~((positions >= lower) & (positions <= upper))
    if outside.any():
        found = "; ".join(
            f"{joint} {value:g} rad, allowed {low:g} to {high:g}"
            for joint, value, low, high, bad in zip(
                robot.joints.names, positions, lower, upper, outside, strict=True
            )
            if bad
        )
        raise ConfigError(f"poses.{name}.positions outside the joint limits: {found}")
    return positions
