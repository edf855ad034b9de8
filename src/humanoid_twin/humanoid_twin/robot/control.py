"""The client of a whole virtual robot's control channel."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar

from humanoid_twin.can.control import CanMethods
from humanoid_twin.control.commands import JointTruth
from humanoid_twin.errors import TwinError
from humanoid_twin.ethercat.control import RingControl
from humanoid_twin.physics.recorder import Recording, load_recording

_NOTHING = (0.0, 0.0, 0.0)


class RobotControl(RingControl, CanMethods):
    """Asks one robot: all that a ring and a CAN bus can be asked, and joints and links by name.

    All methods raise TwinError if the robot refuses, or is gone.
    """

    who: ClassVar[str] = "robot"
    error: ClassVar[type[TwinError]] = TwinError

    def joints(self) -> dict[str, JointTruth]:
        """The truth about each joint, whatever its drive believes and says."""
        return {joint["name"]: joint for joint in self._ask("joints")}

    def set_joint(self, slave: int | str, position: float, velocity: float = 0.0) -> None:
        """Put a joint somewhere [rad, rad/s]; told by ring position or by name."""
        if isinstance(slave, int):
            super().set_joint(slave, position, velocity)
        else:
            self._ask("place", joint=slave, position=position, velocity=velocity)

    def external_torque(self, slave: int | str, torque: float) -> None:
        """Load a joint from outside [Nm], until told otherwise; told by ring position or name."""
        if isinstance(slave, int):
            super().external_torque(slave, torque)
        else:
            self._ask("load", joint=slave, torque=torque)

    def stick_encoder(self, joint: str) -> None:
        """The encoder of a joint says the same from now on, however the joint turns."""
        self._ask("stick_encoder", joint=joint)

    def shift_encoder(self, joint: str, angle: float) -> None:
        """The encoder of a joint is off by an angle [rad]; 0: it is right again, stuck or not."""
        self._ask("shift_encoder", joint=joint, angle=angle)

    def wrench(
        self,
        link: str,
        force: Sequence[float] = _NOTHING,
        torque: Sequence[float] = _NOTHING,
    ) -> None:
        """Push a link from now on: force [N], torque [Nm] in world axes, at its centre of mass.

        Hand-guiding, for example. Neither of the two ends it.
        """
        self._ask("wrench", link=link, force=list(force), torque=list(torque))

    def payload(self, link: str, mass: float) -> None:
        """Fix a mass [kg] to a link's centre of mass, instead of the one before; 0: none."""
        self._ask("payload", link=link, mass=mass)

    def obstacle(self, position: Sequence[float], size: Sequence[float]) -> None:
        """Put a box there, or move it: its centre and its edges along the world's axes [m]."""
        self._ask("obstacle", position=list(position), size=list(size))

    def no_obstacle(self) -> None:
        """Take the box away."""
        self._ask("no_obstacle")

    def record(self, seconds: float) -> None:
        """Record all joints in every millisecond from now on, for so long [s] at most."""
        self._ask("record", seconds=seconds)

    def recorded(self) -> Recording:
        """What has been recorded so far."""
        with TemporaryDirectory(prefix="hc_recording_") as folder:
            path = Path(folder) / "recording.npz"
            self._ask("recorded", path=str(path))
            return load_recording(path)
