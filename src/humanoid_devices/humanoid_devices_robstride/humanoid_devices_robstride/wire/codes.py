"""Numbers of the Robstride protocol (actuator documents)."""

from enum import IntEnum, IntFlag


class CommunicationType(IntEnum):
    """Bits 24 to 28 of an identifier."""

    GET_ID = 0
    OPERATION_CONTROL = 1
    STATUS = 2
    ENABLE = 3
    DISABLE = 4  # byte 0 of the payload set: and clear the faults
    SET_ZERO = 6
    SET_ID = 7
    READ_PARAMETER = 17
    WRITE_PARAMETER = 18
    FAULT_REPORT = 21
    SAVE = 22
    BAUD_RATE = 23
    ACTIVE_REPORT = 24
    PROTOCOL = 25


class Mode(IntEnum):
    """Bits 14 and 15 of a status frame's `extra` (public Robstride documentation)."""

    RESET = 0
    CALIBRATION = 1
    RUN = 2


class StatusFault(IntFlag):
    """Bits 8 to 13 of a status frame's `extra`, shifted down."""

    UNDERVOLTAGE = 1 << 0
    GATE_DRIVER = 1 << 1
    OVER_TEMPERATURE = 1 << 2
    MAGNETIC_ENCODER = 1 << 3
    STALL_OVERLOAD = 1 << 4
    UNCALIBRATED = 1 << 5


class Fault(IntFlag):
    """The first word of a fault report."""

    OVER_TEMPERATURE = 1 << 0
    GATE_DRIVER = 1 << 1
    UNDERVOLTAGE = 1 << 2
    OVERVOLTAGE = 1 << 3
    UNCALIBRATED = 1 << 7
    STALL = 1 << 14


class FaultWarning(IntFlag):
    """The second word of a fault report."""

    OVER_TEMPERATURE = 1 << 0


class ParameterId(IntEnum):
    """Parameters the documents give a type for."""

    RUN_MODE = 0x7005  # u8, 0: operation control
    TORQUE_LIMIT = 0x700B  # f32 [Nm]
    CURRENT_LIMIT = 0x7018  # f32 [A]
    CAN_TIMEOUT = 0x7028  # u32, 0: never
