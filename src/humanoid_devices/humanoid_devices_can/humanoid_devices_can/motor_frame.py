"""Between the motors' own frames and the joint frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from humanoid_control_common.calibration import Calibration
from humanoid_control_common.surface import JointCommand, JointState
from humanoid_devices_can.motor_state import MotorState


class MotorFrame:
    """Applies the calibration, once, here and nowhere else."""

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration
        self._command = JointCommand(len(calibration.direction))

    def measure(self, states: Sequence[MotorState], state: JointState) -> None:
        """Fill `state` from the motors; that of a motor not measured yet stays as it is."""
        calibration = self._calibration
        raw = np.array([(s.position, s.velocity, s.effort) for s in states]).T
        known = np.isfinite(raw).all(axis=0)
        raw[0] = calibration.position_to_joint(raw[0])
        raw[1:] = calibration.rate_to_joint(raw[1:])
        np.copyto(state.array, raw, where=known)

    def to_motors(self, command: JointCommand) -> JointCommand:
        """`command` in the motors' frames; the same storage in every call. Gains have no sign."""
        calibration, raw = self._calibration, self._command
        raw.position[:] = calibration.position_to_raw(command.position)
        raw.velocity[:] = calibration.rate_to_joint(command.velocity)
        raw.effort[:] = calibration.rate_to_joint(command.effort)
        raw.stiffness[:] = command.stiffness
        raw.damping[:] = command.damping
        return raw
