"""Check that a path of some joints keeps the links of the whole robot apart."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Self

import numpy as np

from humanoid_control_common.robot.joints import FloatArray, IndexArray

if TYPE_CHECKING:  # they import MuJoCo, which takes 0.3 s
    from humanoid_motion.collision.collision_model import CollisionModel
    from humanoid_motion.collision.first_conflict import Conflict


class PathCheck:
    """Find the first point of a path at which links are too near. One thread calls it.

    Links that are nearer than `distance` at the beginning may not come nearer than there.
    """

    def __init__(
        self,
        model: "CollisionModel",
        distance: float,
        present: Callable[[], FloatArray],
        rows: IndexArray,
    ) -> None:
        """Check paths of the joints at `rows` of the model's joints.

        `distance` [m]: of any two links. `present` returns where all joints are now, (n_joints,)
        [rad]: the others stay there.
        """
        self._model, self._distance, self._present = model, distance, present
        self._rows = rows
        # Not at the top: it imports MuJoCo, which whoever has a model has loaded. Not at the first
        # use either: that is in a tick of the loop.
        from humanoid_motion.collision.first_conflict import first_conflict

        self._first_conflict = first_conflict

    def of(self, rows: IndexArray) -> Self:
        """Return the check of paths of the joints at `rows` of this one's, in its place."""
        return type(self)(self._model, self._distance, self._present, self._rows[rows])

    def conflict(self, path: FloatArray) -> "Conflict | None":
        """Return the first conflict of `path` (n_samples, k) [rad], see `first_conflict`."""
        whole = np.tile(self._present(), (len(path), 1))
        whole[:, self._rows] = path
        return self._first_conflict(self._model, whole, self._distance)

    def last_clear(self, path: FloatArray) -> FloatArray | None:
        """Return the pose (k,) [rad] of `path` just before its first conflict; None without one."""
        conflict = self.conflict(path)
        return None if conflict is None else conflict.before[self._rows]

    def refusal(self, conflict: "Conflict") -> str:
        """Return what is wrong with a path, for people."""
        found = conflict.clearance
        found = replace(found, distance=math.floor(1000 * found.distance) / 1000)  # 19.6 are not 20
        return f"{found}, expected {1000 * self._distance:.0f} mm at least"
