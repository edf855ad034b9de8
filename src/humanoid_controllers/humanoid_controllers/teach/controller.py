"""REMOTE by hand-guiding: joints move when they are pushed, and stay where they are left."""

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from pydantic import Field

from humanoid_control_common.clamping import clamp
from humanoid_control_common.configuration.config import StrictModel
from humanoid_control_common.robot.mit_interface import Capability, JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import Controller, ModeGains, RobotFacts


class TeachParameters(StrictModel):
    """Parameters of the teach controller."""

    stiffness: float = Field(gt=0.0, description="The mode's [Nm/rad].")
    damping: float = Field(gt=0.0, description="The mode's [Nm*s/rad].")
    # 0.27 Nm on a Sito; 0.9 Nm on an eRob nominally, 0.64 Nm with an efficiency of 0.7.
    hold: float = Field(
        default=0.03,
        gt=0.0,
        le=1.0,
        description="Part of its effort limit with which a joint stays where it is left.",
    )
    # 0.54 Nm s/rad on a wrist with 9 Nm; 1.8 on a joint with 30 Nm, nearly the mode's.
    easy_speed: float = Field(
        default=0.5,
        gt=0.0,
        description="Speed at which the damping of a joint that takes gains in every tick resists "
        "as much as `hold` [rad/s].",
    )


class TeachController(Controller):
    """Targets follow pushed joints at a distance; the loop holds the joints against gravity.

    A target stays until its joint is `hold` x effort limit / stiffness away, and then follows at
    that distance, which feels like friction. A released joint rests unless the error of its
    modelled weight is larger than `hold` x effort limit.
    """

    Parameters = TeachParameters
    mode: ClassVar[Mode] = Mode.REMOTE
    needs: ClassVar[Mapping[str, Capability]] = {
        "position": Capability.PER_TICK,
        "stiffness": Capability.PER_MODE,
        "damping": Capability.PER_MODE,
    }

    def on_configure(self, parameters: TeachParameters, robot: RobotFacts) -> None:
        """See Controller."""
        self._gains = ModeGains(parameters.stiffness, parameters.damping)
        hold = parameters.hold * robot.limits.effort  # [Nm]
        per_tick = robot.acts_per_tick("damping")
        self._damping = np.where(per_tick, hold / parameters.easy_speed, parameters.damping)
        self._trail = hold / parameters.stiffness  # [rad]
        self._lower, self._upper = robot.limits.target_lower, robot.limits.target_upper
        self._target = np.zeros(len(robot.joints))

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """See Controller. The measured pose is held."""
        self._target[:] = state.position

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """See Controller."""
        measured, trail = state.position, self._trail
        clamp(self._target, measured - trail, measured + trail, out=self._target)
        clamp(self._target, self._lower, self._upper, out=command.position)
        command.array[1:3] = 0.0
        command.stiffness.fill(self._gains.stiffness)
        command.damping[:] = self._damping

    @property
    def gains(self) -> ModeGains:
        """See Controller."""
        return self._gains

    @property
    def compensates_gravity(self) -> bool:
        """See Controller."""
        return True
