"""State machine of CiA 402 drives: control and status words (CiA 402-2, ZeroErr manual)."""

from enum import Enum, IntEnum, IntFlag

CSP = 8  # cyclic synchronous position, in 0x6060 and 0x6061


class StatusBit(IntFlag):
    """Bits of the statusword 0x6041."""

    READY_TO_SWITCH_ON = 1 << 0
    SWITCHED_ON = 1 << 1
    OPERATION_ENABLED = 1 << 2
    FAULT = 1 << 3
    VOLTAGE_ENABLED = 1 << 4
    QUICK_STOP = 1 << 5  # 0 while a quick stop is active
    SWITCH_ON_DISABLED = 1 << 6
    WARNING = 1 << 7
    REMOTE = 1 << 9
    TARGET_REACHED = 1 << 10
    INTERNAL_LIMIT = 1 << 11
    FOLLOWS_COMMAND = 1 << 12  # CSP: the target position is used
    FOLLOWING_ERROR = 1 << 13


class Controlword(IntEnum):
    """The controlwords of the state transitions."""

    DISABLE_VOLTAGE = 0x0000
    SHUTDOWN = 0x0006
    SWITCH_ON = 0x0007
    ENABLE_OPERATION = 0x000F
    FAULT_RESET = 0x0080


DISABLE_VOLTAGE = Controlword.DISABLE_VOLTAGE
SHUTDOWN = Controlword.SHUTDOWN
SWITCH_ON = Controlword.SWITCH_ON
ENABLE = Controlword.ENABLE_OPERATION
FAULT_RESET = Controlword.FAULT_RESET


class DriveState(Enum):
    """State of the power drive system."""

    NOT_READY_TO_SWITCH_ON = "not ready to switch on"
    SWITCH_ON_DISABLED = "switch on disabled"
    READY_TO_SWITCH_ON = "ready to switch on"
    SWITCHED_ON = "switched on"
    OPERATION_ENABLED = "operation enabled"
    QUICK_STOP_ACTIVE = "quick stop active"
    FAULT_REACTION_ACTIVE = "fault reaction active"
    FAULT = "fault"
    UNKNOWN = "no state of CiA 402"


# Bits 0-3 and 6 identify these; for the others bit 5 is needed, too.
_WITHOUT_QUICK_STOP_BIT = {
    0b0000000: DriveState.NOT_READY_TO_SWITCH_ON,
    0b1000000: DriveState.SWITCH_ON_DISABLED,
    0b0001111: DriveState.FAULT_REACTION_ACTIVE,
    0b0001000: DriveState.FAULT,
}
_WITH_QUICK_STOP_BIT = {
    0b0100001: DriveState.READY_TO_SWITCH_ON,
    0b0100011: DriveState.SWITCHED_ON,
    0b0100111: DriveState.OPERATION_ENABLED,
    0b0000111: DriveState.QUICK_STOP_ACTIVE,
}


def decode_state(statusword: int) -> DriveState:
    """Return the state in a statusword; UNKNOWN for a pattern outside CiA 402."""
    state = _WITHOUT_QUICK_STOP_BIT.get(statusword & 0b1001111)
    return state or _WITH_QUICK_STOP_BIT.get(statusword & 0b1101111, DriveState.UNKNOWN)
