"""Holds the pose it finds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from humanoid_control_common.config import StrictModel
from humanoid_control_common.modes import Mode
from humanoid_control_common.surface import Capability, JointCommand, JointState
from humanoid_controller_manager.controller import Controller, ModeGains, RobotFacts


class HoldParameters(StrictModel):
    """Parameters of the controller."""

    stiffness: float = Field(gt=0.0, allow_inf_nan=False)  # [Nm/rad]
    damping: float = Field(gt=0.0, allow_inf_nan=False)  # [Nm*s/rad]


class HoldController(Controller):
    """Holds the pose measured at activation, with the same gains on all joints."""

    Parameters = HoldParameters
    mode: ClassVar[Mode] = Mode.STANDBY
    needs: ClassVar[Mapping[str, Capability]] = {
        "position": Capability.PER_TICK,
        "stiffness": Capability.PER_MODE,
        "damping": Capability.PER_MODE,
    }

    def on_configure(self, parameters: HoldParameters, robot: RobotFacts) -> None:
        """Take the gains."""
        self._gains = ModeGains(parameters.stiffness, parameters.damping)
        self._command = JointCommand(len(robot.joints))
        self._command.stiffness[:] = parameters.stiffness
        self._command.damping[:] = parameters.damping

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """Remember the pose: nothing jumps."""
        self._command.position[:] = state.position

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """Command the pose. Runs in the loop's thread: no blocking, no logging."""
        command.array[:] = self._command.array

    @property
    def gains(self) -> ModeGains:
        """Hardware that can't have them refuses the configuration."""
        return self._gains
