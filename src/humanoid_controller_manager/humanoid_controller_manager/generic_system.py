"""Mock hardware in the manner of ros2_control's mock_components/GenericSystem."""

from __future__ import annotations

import numpy as np

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.joints import FloatArray
from humanoid_control_common.safety import SafetyReport
from humanoid_control_common.surface import Capability, JointCommand, JointState
from humanoid_controller_manager.hardware import CapabilityArray, HardwareInfo, uniform_capabilities


class GenericSystem:
    """Joints without dynamics: a stiff joint is where it is told to be, a soft one stays.

    Velocity and effort mirror the commands of stiff joints, effort the feed-forward of all. Joints
    start at the `initial_value` of their position state interface, 0 if none is given.
    Takes no block parameters.
    """

    def on_configure(self, info: HardwareInfo) -> None:
        """See HardwareComponent. Raises ConfigError for parameters it doesn't know."""
        if info.parameters:
            unknown = ", ".join(sorted(info.parameters))
            raise ConfigError(f"{info.name}: unknown parameter {unknown}; mock hardware takes none")
        self._report = SafetyReport(info.name)
        self._capabilities = uniform_capabilities(len(info.joints), Capability.PER_TICK)
        self._effort_limit = info.limits.effort
        self._position = np.array([joint.initial_position or 0.0 for joint in info.joints])
        self._velocity = np.zeros(len(info.joints))
        self._effort = np.zeros(len(info.joints))

    def on_activate(self, state: JointState) -> None:
        """See HardwareComponent."""
        self.read(state, 0.0, 0.0)

    def read(self, state: JointState, now: float, period: float) -> None:
        """See HardwareComponent."""
        state.position[:] = self._position
        state.velocity[:] = self._velocity
        state.effort[:] = self._effort

    def write(self, command: JointCommand, now: float, period: float) -> None:
        """See HardwareComponent."""
        stiff = command.stiffness > 0.0
        np.copyto(self._position, command.position, where=stiff)
        np.multiply(command.velocity, stiff, out=self._velocity)
        self._effort[:] = command.effort

    def on_deactivate(self) -> None:
        """See HardwareComponent."""

    def capabilities(self) -> CapabilityArray:
        """See HardwareComponent: all five interfaces act per tick."""
        return self._capabilities

    def effort_limit(self, position: FloatArray) -> FloatArray:
        """See HardwareComponent: the URDF's limits."""
        return self._effort_limit

    def safety(self) -> SafetyReport:
        """See HardwareComponent: always OK."""
        return self._report
