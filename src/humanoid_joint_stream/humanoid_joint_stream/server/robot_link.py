"""The server's access to the robot: its modes and its faults."""

from abc import ABC, abstractmethod

from humanoid_control_common.rules.modes import Mode
from humanoid_joint_stream.server.session import Situation


class RobotLink(ABC):
    """Called by any thread."""

    @property
    @abstractmethod
    def situation(self) -> Situation:
        """The latest statement of the mode manager; an unknown one if there is none."""

    @abstractmethod
    def request(self, mode: Mode) -> None:
        """Request a mode."""

    @abstractmethod
    def clear_fault(self) -> str:
        """Clear the robot's fault; return why it is refused, empty if it is not."""

    @abstractmethod
    def description(self) -> str:
        """Return the URDF; empty if it is unknown."""
