"""Recordings of the true motion of all joints in every millisecond."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Protocol

import numpy as np

from humanoid_twin.errors import TwinError
from humanoid_twin.physics.plant import TIME_STEP, FloatArray, Plant

_LONGEST = 600.0  # [s] of a recording: 0.2 GB


class Spring(Protocol):
    """A drive that can be stiff."""

    def spring(self) -> tuple[float, float]:
        """Return the present stiffness [Nm/rad] and its share of the torque [Nm]."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The motion of all joints; arrays of shape (steps, n_joints) in the order of names.

    As in the plant, the torques of a row are those that led to its positions and velocities.
    Stiffness and pull (stiffness times distance to the target) are NaN without drives.
    """

    names: tuple[str, ...]
    time: FloatArray  # [s] of the robot, shape (steps,)
    position: FloatArray  # [rad]
    velocity: FloatArray  # [rad/s]
    torque: FloatArray  # [Nm] of the drives, at the joints
    stiffness: FloatArray  # [Nm/rad] of the drives, as it acts
    pull: FloatArray  # [Nm], in the drives' directions

    def save(self, path: Path) -> None:
        """Write the recording into an .npz file. Raises OSError."""
        with path.open("wb") as file:
            np.savez(file, names=np.array(self.names), time=self.time, position=self.position,
                     velocity=self.velocity, torque=self.torque, stiffness=self.stiffness,
                     pull=self.pull)  # fmt: skip


def load_recording(path: Path) -> Recording:
    """Read a file of `Recording.save`."""
    with np.load(path) as file:
        return Recording(
            tuple(file["names"].tolist()),
            file["time"], file["position"], file["velocity"], file["torque"],
            file["stiffness"], file["pull"],
        )  # fmt: skip


class Recorder:
    """Records the joints from `start` on, until its memory is full."""

    def __init__(self, plant: Plant, names: Sequence[str], springs: Sequence[Spring] = ()) -> None:
        """`springs`: the drives of all joints, for their stiffness; or none."""
        self._plant, self._names, self._springs = plant, tuple(names), tuple(springs)
        self.start(0)

    def start(self, steps: int) -> None:
        """Drop the present recording, and record at most `steps` steps."""
        count = len(self._names)
        self._rows = np.empty((3, steps, count))
        self._drives = np.empty((steps, count, 2))  # of each drive what `spring` returns
        if not self._springs:
            self._drives.fill(np.nan)
        self._bytes = self._drives.data.cast("B") if steps and count else memoryview(b"")
        self._pack = struct.Struct(f"={2 * count}d")
        self._times = np.empty(steps)
        self._room, self._count = steps, 0

    def stepped(self, now: int) -> None:
        """Record a step of the plant, to `now` [ns]."""
        count = self._count
        if count < self._room:
            plant, rows = self._plant, self._rows
            rows[0, count] = plant.position
            rows[1, count] = plant.velocity
            rows[2, count] = plant.torque
            if self._springs:
                # By far faster than what numpy does with so few numbers.
                springs = chain.from_iterable([it.spring() for it in self._springs])
                self._pack.pack_into(self._bytes, count * self._pack.size, *springs)
            self._times[count] = now / 1e9
            self._count = count + 1

    def recording(self) -> Recording:
        """Return the recording since the start."""
        count = self._count
        position, velocity, torque = self._rows[:, :count]
        springs = self._drives[:count]
        return Recording(
            self._names,
            self._times[:count],
            position, velocity, torque,
            springs[..., 0], springs[..., 1],
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class RecorderCommands:
    """Commands of the control channel about recordings."""

    recorder: Recorder

    def record(self, seconds: float) -> None:
        """Record all joints in every millisecond from now on, for at most a time [s].

        The previous recording is dropped. Raises TwinError for a time out of range.
        """
        if not 0 <= seconds <= _LONGEST:
            raise TwinError(f"can't record {seconds} s, expected 0 to {_LONGEST:g}")
        self.recorder.start(round(seconds / TIME_STEP))

    def recorded(self, path: str) -> int:
        """Write the recording so far into an .npz file. Return the number of steps in it.

        Raises TwinError if the file can't be written.
        """
        recording = self.recorder.recording()
        try:
            recording.save(Path(path))
        except OSError as error:
            raise TwinError(f"recording '{path}': {error.strerror}") from error
        return len(recording.time)
