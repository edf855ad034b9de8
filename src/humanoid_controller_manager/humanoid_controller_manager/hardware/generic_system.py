"""Mock hardware in the manner of ros2_control's mock_components/GenericSystem."""

import numpy as np

from humanoid_control_common.clamping import clamp
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.safety import SafetyReport
from humanoid_controller_manager.hardware.block_parameters import complete
from humanoid_controller_manager.hardware.mode_gains import MODE_GAINS
from humanoid_controller_manager.hardware.simulated_servos import SimulatedSystem
from humanoid_controller_manager.hardware_component import HardwareInfo


class GenericSystem(SimulatedSystem):
    """Joints that obey the MIT law, without mass: a stiff joint reaches its target at once.

    Its measurement is the target's position and velocity; a soft joint stays at rest. The effort is
    that of the law for the measurement before, within the limit:

        stiffness (position_cmd - position) + damping (velocity_cmd - velocity) + effort_cmd

    Joints start at their initial positions. The parts of a command that act are those of
    `SimulatedServos`. There are no parameters but the gains of modes.
    """

    def on_configure(self, info: HardwareInfo) -> None:
        """See HardwareComponent. Raises ConfigError for unknown parameters."""
        known = dict.fromkeys(MODE_GAINS, "")
        complete(info.parameters, (), known, info.place)
        for joint in info.joints:
            complete(joint.parameters, (), known, f"{info.place}: joint '{joint.name}'")
        self._report = SafetyReport(info.name)
        super().on_configure(info)
        self._position = np.array([joint.initial_position for joint in info.joints])
        self._velocity = np.zeros(len(info.joints))
        self._effort = np.zeros(len(info.joints))
        self._lead = np.zeros(len(info.joints))  # [rad, rad/s] of the target

    @property
    def bears_weight(self) -> bool:
        """See HardwareComponent: its joints have no mass."""
        return False

    def on_activate(self, state: JointState) -> None:
        """See HardwareComponent."""
        self.read(state, 0.0, 0.0)

    def read(self, state: JointState, now: float, period: float) -> None:
        """See HardwareComponent."""
        self.servos.read()
        state.position[:] = self._position
        state.velocity[:] = self._velocity
        state.effort[:] = self._effort

    def write(self, command: JointCommand, now: float, period: float) -> None:
        """See HardwareComponent."""
        acting = self.servos.acting(command, self._position)
        effort, lead, limit = self._effort, self._lead, self._effort_limit
        np.subtract(acting.position, self._position, out=lead)
        np.multiply(acting.stiffness, lead, out=effort)
        np.subtract(acting.velocity, self._velocity, out=lead)
        np.multiply(acting.damping, lead, out=lead)
        np.add(effort, lead, out=effort)
        np.add(effort, acting.effort, out=effort)
        clamp(effort, -limit, limit, effort)
        stiff = acting.stiffness > 0.0
        np.copyto(self._position, acting.position, where=stiff)
        np.multiply(acting.velocity, stiff, out=self._velocity)

    def on_deactivate(self) -> None:
        """See HardwareComponent."""

    def safety(self) -> SafetyReport:
        """See HardwareComponent: always OK."""
        return self._report
