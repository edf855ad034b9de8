"""Random reaching motions of all joints, as a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray, JointLimits

MARGIN: Final = 0.1  # [rad] between a target and the end of the joint's range
FASTEST: Final = 2.0  # [rad/s], half the velocity limit of an eRob joint
TIMES: Final = (0.8, 2.0)  # [s] of one reach
REST: Final = 0.4  # [s] at each target
# The largest speed of a quintic from rest to rest, times its mean.
PEAK: Final = 1.875


@dataclass(frozen=True, slots=True)
class ReachingMotions:
    """Motions from pose to pose, at rest at each. One per robot of a batch.

    Args:
        poses: [rad], (n_robots, n_poses, n_joints).
        begins: when the reach to pose i + 1 begins [s], (n_robots, n_poses - 1).
        times: of each reach [s], (n_robots, n_poses - 1).
    """

    poses: FloatArray
    begins: FloatArray
    times: FloatArray

    def at(self, time: float) -> tuple[FloatArray, FloatArray]:
        """Return positions [rad] and velocities [rad/s], (n_robots, n_joints) each."""
        part = np.clip((time - self.begins) / self.times, 0.0, 1.0)[..., None]
        ways = np.diff(self.poses, axis=1)
        way = part**3 * (10.0 + part * (6.0 * part - 15.0))
        speed = 30.0 * part**2 * (1.0 - part) ** 2 / self.times[..., None]
        return self.poses[:, 0] + (way * ways).sum(axis=1), (speed * ways).sum(axis=1)


def random_motions(
    random: np.random.Generator, limits: JointLimits, robots: int, duration: float
) -> ReachingMotions:
    """Return motions that take about `duration` [s].

    Each arm reaches from one random pose to the next; targets are up to 1.5 rad apart.
    """
    low, high = limits.target_lower + MARGIN, limits.target_upper - MARGIN
    count = max(2, round(duration / (sum(TIMES) / 2 + REST)) + 1)
    poses = np.empty((robots, count, len(low)))
    poses[:, 0] = random.uniform(low, high, (robots, len(low)))
    for i in range(1, count):
        step = random.uniform(-1.5, 1.5, (robots, len(low)))
        poses[:, i] = np.clip(poses[:, i - 1] + step, low, high)
    needed = PEAK * np.abs(np.diff(poses, axis=1)).max(axis=2) / FASTEST
    times = np.maximum(random.uniform(*TIMES, needed.shape), needed)
    begins = np.cumsum(times + REST, axis=1) - times
    return ReachingMotions(poses, begins, times)
