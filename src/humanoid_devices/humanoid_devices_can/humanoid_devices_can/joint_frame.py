"""Conversion between the motors' frames and the joint frame."""

from collections.abc import Sequence

import numpy as np

from humanoid_control_common.robot.calibration import Calibration
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_devices_can.motor_protocol import MotorState


class JointFrame:
    """Applies the calibration to the measurements and commands of motors on CAN."""

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration
        self._command = JointCommand(len(calibration.direction))

    def measure(self, states: Sequence[MotorState], state: JointState) -> None:
        """Fill `state` from the motors; joints that are not measured yet keep their state."""
        calibration = self._calibration
        raw = np.array([(s.position, s.velocity, s.effort) for s in states]).T
        known = np.isfinite(raw).all(axis=0)
        raw[0] = calibration.position_to_joint(raw[0])
        raw[1:] = calibration.rate_to_joint(raw[1:])
        np.copyto(state.array, raw, where=known)

    def to_motors(self, command: JointCommand) -> JointCommand:
        """Return `command` in the motors' frames, in storage that the next call reuses."""
        calibration, raw = self._calibration, self._command
        raw.position[:] = calibration.position_to_raw(command.position)
        raw.velocity[:] = calibration.rate_to_joint(command.velocity)
        raw.effort[:] = calibration.rate_to_joint(command.effort)
        raw.stiffness[:] = command.stiffness  # gains have no sign
        raw.damping[:] = command.damping
        return raw
