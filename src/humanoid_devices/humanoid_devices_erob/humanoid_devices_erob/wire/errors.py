"""The error of the wire layouts."""

from humanoid_control_common.errors import RobotError


class WireError(RobotError):
    """Bytes do not have the expected layout; the message names place and found value."""
