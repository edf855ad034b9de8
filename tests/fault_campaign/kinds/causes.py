"""Reason codes that several kinds of faults share."""

from __future__ import annotations

from typing import Final

from humanoid_control_common.rules.reason_codes import (
    IMPEDANCE_MANAGER_SILENT,
    IMPEDANCE_MANAGER_UNHEARD,
    IMPEDANCE_NOT_CONFIRMED,
    SAFETY_SOURCE_SILENT,
)
from humanoid_controller_manager.reason_codes import (
    CONTROLLER_LATE,
    LOOP_STANDS_STILL,
    PROCESS_HELD_UP,
    ROS_SIDE_SILENT,
)
from humanoid_controllers.reason_codes import HEARTBEAT_ENDED
from humanoid_devices_can.reason_codes import (
    DISABLED_BY_GUARD,
    GUARD_NOT_DONE,
    MOTOR_DISABLED,
    RX_TIMEOUT,
    TX_QUEUE_OVERRUN,
)
from humanoid_devices_erob.reason_codes import (
    DRIVE_ERRORS,
    NO_FRAME_RETURNS,
    WORKING_COUNTER_LOW,
)

# Of the impedance manager, or of gains that it has not confirmed.
UNCONFIRMED: Final = (IMPEDANCE_MANAGER_SILENT, IMPEDANCE_MANAGER_UNHEARD, IMPEDANCE_NOT_CONFIRMED)
# Reasons of a stack without processor time: the bus, the messages or the loop are late.
HELD_UP: Final = (
    PROCESS_HELD_UP,
    LOOP_STANDS_STILL,
    ROS_SIDE_SILENT,
    CONTROLLER_LATE,
    SAFETY_SOURCE_SILENT,
    IMPEDANCE_MANAGER_SILENT,
    HEARTBEAT_ENDED,
    NO_FRAME_RETURNS,
    WORKING_COUNTER_LOW,
    DRIVE_ERRORS[0xA000],
    RX_TIMEOUT,
    TX_QUEUE_OVERRUN,
    DISABLED_BY_GUARD,
    GUARD_NOT_DONE,
    MOTOR_DISABLED,
)
