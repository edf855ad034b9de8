"""Errors of a CAN bus and its motors, one class for each kind of remedy."""

from humanoid_control_common.errors import HardwareError, RobotError


class WireError(RobotError):
    """A frame does not have the expected layout; the message says what was found where."""


class CanBusError(HardwareError):
    """The bus as a whole can't be used; the message says what to do."""


class InterfaceError(CanBusError):
    """This machine has no such CAN interface, or this process may not use it."""


class AdapterLostError(CanBusError):
    """The interface has gone: unplugged, or taken down."""


class QueueFullError(CanBusError):
    """The adapter can't take another frame now."""


class MotorError(HardwareError):
    """Motors don't answer or don't obey; the message names the joints."""
