"""What is wrong with bytes from the wire."""

from humanoid_control_common.errors import RobotError


class WireError(RobotError):
    """Bytes that are no message of the layout they should have. Says what was found where."""
