"""The truth at the full rate of the physics: what every joint did in every millisecond."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from humanoid_twin.drive.plant import FloatArray, Plant


class Spring(Protocol):
    """A drive that can be stiff."""

    def spring(self) -> tuple[float, float]:
        """How stiff it is now [Nm/rad], and what that alone pulls with [Nm]."""


@dataclass(frozen=True, slots=True)
class Recording:
    """What all joints did, step by step; arrays of shape (steps, n_joints) in the order of names.

    As in the plant, the torques of a row are those that led to its positions and velocities.
    Stiffness and pull (what stiffness alone makes of the distance to the target) are NaN where
    nobody was asked.
    """

    names: tuple[str, ...]
    time: FloatArray  # [s] of the robot, shape (steps,)
    position: FloatArray  # [rad]
    velocity: FloatArray  # [rad/s]
    torque: FloatArray  # [Nm] of the drives, at the joints
    stiffness: FloatArray  # [Nm/rad] of the drives, as it acts
    pull: FloatArray  # [Nm], in the drives' directions

    def save(self, path: Path) -> None:
        """Write it into an .npz file. OSError if that can't be."""
        with path.open("wb") as file:
            np.savez(file, names=np.array(self.names), time=self.time, position=self.position,
                     velocity=self.velocity, torque=self.torque, stiffness=self.stiffness,
                     pull=self.pull)  # fmt: skip


def load_recording(path: Path) -> Recording:
    """What `Recording.save` has written."""
    with np.load(path) as file:
        return Recording(
            tuple(file["names"].tolist()),
            file["time"], file["position"], file["velocity"], file["torque"],
            file["stiffness"], file["pull"],
        )  # fmt: skip


class Recorder:
    """Keeps what the joints do from `start` on, until the room for it is full."""

    def __init__(self, plant: Plant, names: Sequence[str], springs: Sequence[Spring] = ()) -> None:
        """`springs`: the drives of all joints, to be asked how stiff they are; or none of them."""
        self._plant, self._names, self._springs = plant, tuple(names), tuple(springs)
        self.start(0)

    def start(self, steps: int) -> None:
        """Forget what was recorded, and record so many steps at most."""
        self._rows = np.empty((5, steps, len(self._names)))
        self._times = np.empty(steps)
        self._room, self._count = steps, 0

    def stepped(self, now: int) -> None:
        """The plant has been stepped, to `now` [ns]."""
        count = self._count
        if count < self._room:
            plant, rows = self._plant, self._rows
            rows[0, count] = plant.position
            rows[1, count] = plant.velocity
            rows[2, count] = plant.torque
            rows[3:, count] = np.nan
            if self._springs:
                rows[3:, count] = np.array([it.spring() for it in self._springs]).T
            self._times[count] = now / 1e9
            self._count = count + 1

    def recording(self) -> Recording:
        """What was recorded since the start."""
        return Recording(self._names, self._times[: self._count], *self._rows[:, : self._count])
