"""What can go wrong with a CAN bus and the motors on it, told apart by what helps."""

from humanoid_control_common.errors import HardwareError, RobotError


class WireError(RobotError):
    """A frame that is no message of the layout it should have. Says what was found where."""


class CanBusError(HardwareError):
    """The bus as a whole can't be used; the message says what to do."""


class InterfaceError(CanBusError):
    """This machine has no such CAN interface, or this process may not use it."""


class AdapterLostError(CanBusError):
    """The interface was there and is gone: unplugged, or taken down."""


class QueueFullError(CanBusError):
    """The adapter can't take another frame now."""


class MotorError(HardwareError):
    """Motors don't answer or don't obey; the message names the joints."""
