"""The error of the protocol layouts."""

from humanoid_control_common.errors import RobotError


class ProtocolError(RobotError):
    """Bytes break the protocol; the message names place and found value."""
