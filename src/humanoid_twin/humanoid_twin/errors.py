"""What goes wrong in the virtual robot's own processes."""

from humanoid_control_common.errors import RobotError


class TwinError(RobotError):
    """The virtual robot can't be started, or can't do what it is asked for."""
