"""Conversion between the motors' frames and the joint frame."""

from collections.abc import Sequence

import numpy as np

from humanoid_control_common.robot.calibration import Calibration
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_devices_can.motor_protocol import MotorState


class JointFrame:
    """Applies calibration and whole turns to the measurements and commands of motors on CAN.

    `turns`: [rad] to add to the motors' positions, (n,); replaced as a whole, by any thread.
    """

    def __init__(self, calibration: Calibration) -> None:
        self.turns: FloatArray = np.zeros(len(calibration.direction))
        self.shifts = 0  # number of changes of turns, each of which shifts the measured position
        self._calibration = calibration
        self._measured_with = self.turns
        self._command = JointCommand(len(calibration.direction))

    def measure(self, states: Sequence[MotorState], state: JointState) -> None:
        """Fill `state` from the motors; joints that are not measured yet keep their state."""
        calibration, turns = self._calibration, self.turns
        self.shifts += turns is not self._measured_with
        self._measured_with = turns
        raw = np.array([(s.position, s.velocity, s.effort) for s in states]).T
        known = np.isfinite(raw).all(axis=0)
        raw[0] = calibration.position_to_joint(raw[0] + turns)
        raw[1:] = calibration.rate_to_joint(raw[1:])
        np.copyto(state.array, raw, where=known)

    def to_motors(self, command: JointCommand) -> JointCommand:
        """Return `command` in the motors' frames, in storage that the next call reuses."""
        calibration, raw = self._calibration, self._command
        raw.position[:] = calibration.position_to_raw(command.position) - self.turns
        raw.velocity[:] = calibration.rate_to_joint(command.velocity)
        raw.effort[:] = calibration.rate_to_joint(command.effort)
        raw.stiffness[:] = command.stiffness  # gains have no sign
        raw.damping[:] = command.damping
        return raw
