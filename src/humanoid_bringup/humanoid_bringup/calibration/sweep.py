"""Record each joint's range of motion in raw angles, independent of the calibration in force."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from humanoid_bringup.calibration.formulas import Interval
from humanoid_control_common.robot.calibration import Calibration
from humanoid_control_common.robot.joints import FloatArray, JointSet


class SweepRecorder:
    """Least and largest raw angle of every joint while it was recorded; arrays (n_joints,).

    Args:
        joints: names in order.
        in_force: the calibration that the robot applies to the positions it publishes.
    """

    def __init__(self, joints: JointSet, in_force: Calibration) -> None:
        self.joints = joints
        self._in_force = in_force
        count = len(joints)
        self.raw: FloatArray = np.full(count, np.nan)  # [rad] latest; NaN: never seen
        self._low = np.full(count, np.inf)
        self._high = np.full(count, -np.inf)

    def seen(
        self, names: Sequence[str], positions: Sequence[float], wanted: NDArray[np.bool_]
    ) -> None:
        """Process a message of /prime/joint_states; `positions` [rad] are in the joint frame.

        Absent joints and positions that are not finite are ignored. Only joints that are
        `wanted` are recorded: the sag of a joint that is held must not pass for a sweep.
        """
        found = dict(zip(names, positions, strict=False))
        joint = np.array([found.get(name, np.nan) for name in self.joints.names])
        known = np.isfinite(joint)
        raw = self._in_force.position_to_raw(joint)
        np.copyto(self.raw, raw, where=known)
        recorded = known & wanted
        np.copyto(self._low, np.minimum(self._low, raw), where=recorded)
        np.copyto(self._high, np.maximum(self._high, raw), where=recorded)

    def forget(self, joint: int) -> None:
        """Begin the sweep of a joint again."""
        self._low[joint], self._high[joint] = np.inf, -np.inf

    def sweep(self, joint: int) -> Interval | None:
        """Return the raw angles [rad] that the joint was moved between; None: never recorded."""
        low, high = float(self._low[joint]), float(self._high[joint])
        return Interval(low, high) if low <= high else None
