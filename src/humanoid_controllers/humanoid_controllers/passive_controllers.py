"""The controllers of the soft modes: ZERO_TORQUE (limp) and DAMPING."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from humanoid_control_common.configuration.config import StrictModel
from humanoid_control_common.robot.mit_interface import Capability, JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import Controller, ModeGains, RobotFacts


class NoParameters(StrictModel):
    """A controller without parameters."""


class ZeroTorqueController(Controller):
    """Commands zero on all five interfaces of every joint."""

    Parameters = NoParameters
    mode: ClassVar[Mode] = Mode.ZERO_TORQUE
    needs: ClassVar[Mapping[str, Capability]] = {}  # never refused

    def on_configure(self, parameters: NoParameters, robot: RobotFacts) -> None:
        """See Controller."""

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """See Controller."""

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """See Controller."""
        command.array.fill(0.0)

    @property
    def gains(self) -> ModeGains:
        """See Controller."""
        return ModeGains(0.0, 0.0)


class DampingParameters(StrictModel):
    """Parameters of the DAMPING controller."""

    damping: float = Field(gt=0.0, description="Damping of every joint [Nm*s/rad].")


class DampingController(Controller):
    """Commands damping without stiffness on every joint: the fail-safe.

    The position command is the pose measured at activation, so no distant target is left behind.
    """

    Parameters = DampingParameters
    mode: ClassVar[Mode] = Mode.DAMPING
    needs: ClassVar[Mapping[str, Capability]] = {}  # never refused

    def on_configure(self, parameters: DampingParameters, robot: RobotFacts) -> None:
        """See Controller."""
        self._command = JointCommand(len(robot.joints))
        self._command.damping[:] = parameters.damping
        self._gains = ModeGains(0.0, parameters.damping)

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """See Controller."""
        self._command.position[:] = state.position

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """See Controller."""
        command.array[:] = self._command.array

    @property
    def gains(self) -> ModeGains:
        """See Controller."""
        return self._gains
