"""REMOTE by trajectories: follows whole motions, checked before they begin."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import Capability, JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import Controller, ModeGains, RobotFacts
from humanoid_controllers.trajectory.follower import Follower
from humanoid_controllers.trajectory.goal import Tolerances
from humanoid_controllers.trajectory.parameters import (
    TrajectoryParameters,
    mode_gains,
    motion_limits,
    tolerances,
)
from humanoid_controllers.trajectory.planner import MotionRules, Planner


class JointTrajectoryController(Controller):
    """Follows trajectories, and holds the pose without one.

    `planner` takes the goals, in the thread of the callers; `follower` is the loop's side.
    """

    Parameters = TrajectoryParameters
    mode: ClassVar[Mode] = Mode.REMOTE
    needs: ClassVar[Mapping[str, Capability]] = {
        "position": Capability.PER_TICK,
        "stiffness": Capability.PER_MODE,
        "damping": Capability.PER_MODE,
    }

    def on_configure(self, parameters: TrajectoryParameters, robot: RobotFacts) -> None:
        """See Controller. Raises ConfigError for an unknown joint or no position interface."""
        for key in ("command_interfaces", "state_interfaces"):
            if "position" not in getattr(parameters, key):
                raise ConfigError(f"{key}: {getattr(parameters, key)}, expected position in it")
        limits = motion_limits(parameters, robot)
        constraints = parameters.constraints
        velocity = "velocity" in parameters.state_interfaces
        stopped = (velocity and constraints.stopped_velocity_tolerance) or np.inf
        self.tolerances = Tolerances(
            *tolerances(constraints, robot.joints),
            np.full(len(robot.joints), stopped),
            constraints.goal_time,
        )
        self.joints = robot.joints
        self.jog_timeout = parameters.jog_timeout  # [s]
        # [s] between two updates of an action's goals, and between two states
        self.action_period = 1.0 / parameters.action_monitor_rate
        self.state_period = 1.0 / parameters.state_publish_rate
        self.follower = Follower(robot.joints, limits.acceleration, self.jog_timeout)
        rules = MotionRules(
            limits,
            self.tolerances,
            parameters.allow_partial_joints_goal,
            parameters.start_tolerance,
            robot.path_check and robot.path_check(),
        )
        self.planner = Planner(robot.joints, rules, self.follower)
        self._gains = mode_gains(parameters, robot)
        self._holds_up = parameters.gravity_compensation
        # No velocity is commanded where it cannot act.
        acts = robot.acts_per_tick("velocity") & ("velocity" in parameters.command_interfaces)
        self._has_velocity = acts.astype(np.float64)

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """See Controller. The measured pose is held."""
        self.follower.begin(state.position, now)

    def on_held_back(self, target: FloatArray, why: str) -> None:
        """See Controller. The motion continues from there."""
        self.follower.on_held_back(target, why)

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """See Controller."""
        wanted = self.follower.step(state, now, period)
        command.position[:] = wanted[0]
        np.multiply(wanted[1], self._has_velocity, out=command.velocity)
        command.effort.fill(0.0)
        command.stiffness.fill(self._gains.stiffness)
        command.damping.fill(self._gains.damping)

    def on_deactivate(self) -> None:
        """See Controller. Goals end."""
        self.follower.end()

    @property
    def compensates_gravity(self) -> bool:
        """See Controller."""
        return self._holds_up

    @property
    def gains(self) -> ModeGains:
        """See Controller."""
        return self._gains
