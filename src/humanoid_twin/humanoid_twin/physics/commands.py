"""What the control channel can do to the physics of a robot."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from humanoid_twin.errors import TwinError
from humanoid_twin.physics.loads import Loads
from humanoid_twin.physics.model import TIME_STEP
from humanoid_twin.physics.recorder import Recorder

_LONGEST = 600.0  # [s] of a recording: 0.2 GB


@dataclass(frozen=True, slots=True)
class PhysicsCommands:
    """Forces, masses and obstacles by the names of links, and recordings."""

    loads: Loads
    recorder: Recorder

    def wrench(self, link: str, force: Sequence[float], torque: Sequence[float]) -> None:
        """See Loads."""
        self.loads.wrench(link, force, torque)

    def payload(self, link: str, mass: float) -> None:
        """See Loads."""
        self.loads.payload(link, float(mass))

    def obstacle(self, position: Sequence[float], size: Sequence[float]) -> None:
        """See Loads."""
        self.loads.obstacle(position, size)

    def no_obstacle(self) -> None:
        """See Loads."""
        self.loads.no_obstacle()

    def record(self, seconds: float) -> None:
        """Record all joints in every millisecond from now on, for so long [s]; forget the last."""
        if not 0 <= seconds <= _LONGEST:
            raise TwinError(f"can't record {seconds} s, expected 0 to {_LONGEST:g}")
        self.recorder.start(round(seconds / TIME_STEP))

    def recorded(self, path: str) -> int:
        """Write what was recorded so far into an .npz file; how many steps it is."""
        recording = self.recorder.recording()
        try:
            recording.save(Path(path))
        except OSError as error:
            raise TwinError(f"recording '{path}': {error.strerror}") from error
        return len(recording.time)
