"""Errors of the virtual robot's own processes, not of what happens on its buses."""

from humanoid_control_common.errors import RobotError


class TwinError(RobotError):
    """The virtual robot can't be started, or refuses a command."""


class RingError(TwinError):
    """The ring can't be started, or refuses a command. Names the interface or command, and why."""


class VethError(RingError):
    """A veth pair can't be made or removed. Names the pair, and what is missing."""


class CanError(TwinError):
    """The CAN bus can't be built, or refuses a command. States what was found and expected."""


class AdapterError(CanError):
    """The bus has no outside: the pty or the interface can't be had. States why."""
