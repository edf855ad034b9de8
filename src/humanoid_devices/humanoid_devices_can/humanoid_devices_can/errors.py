"""Errors of a CAN bus and its motors, one class for each kind of remedy."""

from typing import ClassVar

from humanoid_control_common.errors import HardwareError, RobotError
from humanoid_control_common.rules.reasons import Reason, ReasonCode
from humanoid_devices_can.reason_codes import (
    ADAPTER_GONE,
    INTERFACE_DOWN,
    INTERFACE_UNUSABLE,
    MOTOR_REFUSED,
    TX_QUEUE_FULL,
)


class ProtocolError(RobotError):
    """A frame breaks the protocol of the motors; the message names place and found value."""


class CanError(HardwareError):
    """The root of the errors with a reason; `causes` are quoted in the message."""

    code: ClassVar[ReasonCode] = MOTOR_REFUSED

    def __init__(self, message: str, *causes: Reason) -> None:
        super().__init__(message)
        self.reason = Reason.of(self.code, message, *causes)


class CanBusError(CanError):
    """The bus as a whole can't be used; the message has a remedy."""

    code = INTERFACE_UNUSABLE


class InterfaceError(CanBusError):
    """This machine has no such CAN interface, or this process may not use it."""


class AdapterLostError(CanBusError):
    """The interface was lost: unplugged, or taken down."""

    code = ADAPTER_GONE


class InterfaceDownError(AdapterLostError):
    """The network interface was switched off."""

    code = INTERFACE_DOWN


class QueueFullError(CanBusError):
    """The adapter can't take another frame now."""

    code = TX_QUEUE_FULL


class MotorError(CanError):
    """Motors don't answer or refuse a request; the message names the joints."""
