"""Conversion between the frames of joint and drive: counts, direction, offset, whole turns."""

import logging
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.clamping import clamp
from humanoid_control_common.robot.calibration import LOCATE, turns_into_range
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointState
from humanoid_control_common.robot.units import Encoder
from humanoid_devices_erob.errors import TurnsError
from humanoid_devices_erob.master.process_image import ProcessImage
from humanoid_devices_erob.settings import Settings

logger = logging.getLogger(__name__)

ENCODER: Final = Encoder(524288)  # 19 bit at the output, whatever the gear (actuator documents)
_TORQUE_UNIT: Final = 1e-3  # 0x6077 counts thousandths of the rated torque (CiA 402-2; assumed)
_INT32: Final = np.iinfo(np.int32)


class JointFrame:
    """Applies calibration and ring order; no other code does."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.shifts = 0  # number of changes of turns, each of which shifts the measured position
        self._calibration = settings.calibration
        self._at = settings.ring_position  # of each joint
        self._torque_unit = settings.rated_torque * _TORQUE_UNIT  # [Nm]
        self.velocity_limit = np.empty(len(settings.joints))  # [counts/s], ring order
        self.velocity_limit[self._at] = settings.velocity_limit * ENCODER.counts_per_radian

    def measure(self, image: ProcessImage, state: JointState) -> None:
        """Fill `state` [rad, rad/s, Nm] from the drives' inputs."""
        calibration, at = self._calibration, self._at
        scale = ENCODER.counts_per_radian
        counts = image.position[at] + image.turns[at]
        state.position[:] = calibration.position_to_joint(counts / scale)
        state.velocity[:] = calibration.rate_to_joint(image.velocity[at] / scale)
        state.effort[:] = calibration.rate_to_joint(image.torque[at] * self._torque_unit)

    def find_turns(self, image: ProcessImage) -> None:
        """Note how many whole turns bring each joint into its range.

        Raises TurnsError where that is unclear: these joints keep their turns, all others get
        theirs. A joint without calibration has none then.
        """
        settings, calibration = self._settings, self._calibration
        before = image.turns.copy()
        angles = calibration.position_to_joint(image.position[self._at] / ENCODER.counts_per_radian)
        calibrated = calibration.known
        lost = np.zeros(len(settings.joints), np.int64)
        unclear: dict[int, str] = {}
        for i, (name, angle) in enumerate(zip(settings.joints, angles.tolist(), strict=True)):
            lower, upper = float(settings.lower[i]), float(settings.upper[i])
            turns = turns_into_range(angle, lower, upper)
            if turns is not None:
                lost[i] = turns * calibration.direction[i]
            elif calibrated[i]:
                unclear[i] = f"{name} at {angle:.2f} rad (limits {lower:.2f} to {upper:.2f})"
        image.turns[self._at] = lost * ENCODER.counts_per_revolution
        kept = self._at[list(unclear)]
        image.turns[kept] = before[kept]
        self.shifts += int((image.turns != before).any())
        for i in np.flatnonzero((lost != 0) & (image.turns != before)[self._at]).tolist():
            logger.warning(
                "%s: its encoder is off by %d turns, which is compensated: replace its battery, "
                "unless its homing_offset is in degrees"
                if calibrated[i]
                else "%s: %d turns of its encoder are left out: it is not calibrated",
                settings.joints[i], -lost[i],
            )  # fmt: skip
        if unclear:
            raise TurnsError(
                f"no whole number of turns brings {', '.join(unclear.values())} clearly into its "
                f"range: {LOCATE}",
                list(unclear),
            )

    def to_counts(self, position: FloatArray, image: ProcessImage) -> FloatArray:
        """Return joint positions [rad] (n,) as the drives' counts in ring order, not rounded."""
        counts = np.empty_like(position)
        raw = self._calibration.position_to_raw(position)
        counts[self._at] = raw * ENCODER.counts_per_radian
        return counts - image.turns

    def to_ring(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return a mask (n,) of joints in ring order."""
        ordered = np.empty_like(mask)
        ordered[self._at] = mask
        return ordered


def as_wire_counts(counts: FloatArray) -> NDArray[np.int32]:
    """Return counts rounded for the wire; beyond ±2³¹ (4096 turns) they saturate."""
    return clamp(np.rint(counts), _INT32.min, _INT32.max).astype(np.int32)
