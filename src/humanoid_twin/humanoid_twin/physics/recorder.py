"""The truth at the full rate of the physics: what every joint did in every millisecond."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from humanoid_twin.drive.plant import FloatArray, Plant


@dataclass(frozen=True, slots=True)
class Recording:
    """What all joints did, step by step; arrays of shape (steps, n_joints) in the order of names.

    As in the plant, the torques of a row are those that led to its positions and velocities.
    """

    names: tuple[str, ...]
    time: FloatArray  # [s] of the robot, shape (steps,)
    position: FloatArray  # [rad]
    velocity: FloatArray  # [rad/s]
    torque: FloatArray  # [Nm] of the drives, at the joints

    def save(self, path: Path) -> None:
        """Write it into an .npz file. OSError if that can't be."""
        with path.open("wb") as file:
            np.savez(file, names=np.array(self.names), time=self.time, position=self.position,
                     velocity=self.velocity, torque=self.torque)  # fmt: skip


def load_recording(path: Path) -> Recording:
    """What `Recording.save` has written."""
    with np.load(path) as file:
        return Recording(
            tuple(file["names"].tolist()),
            file["time"], file["position"], file["velocity"], file["torque"],
        )  # fmt: skip


class Recorder:
    """Keeps what the joints do from `start` on, until the room for it is full."""

    def __init__(self, plant: Plant, names: Sequence[str]) -> None:
        self._plant, self._names = plant, tuple(names)
        self.start(0)

    def start(self, steps: int) -> None:
        """Forget what was recorded, and record so many steps at most."""
        self._rows = np.empty((3, steps, len(self._names)))
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
            self._times[count] = now / 1e9
            self._count = count + 1

    def recording(self) -> Recording:
        """What was recorded since the start."""
        position, velocity, torque = self._rows[:, : self._count]
        return Recording(self._names, self._times[: self._count], position, velocity, torque)
