"""Frames of Robstride motors (actuator documents): bytes and raw fields, no unit.

A frame has a 29-bit identifier, `type << 24 | extra << 8 | device`, and eight bytes. From the host,
`device` is the motor and `extra` the host's id, except in operation control; from the motor,
`device` is the host and the low byte of `extra` the motor.
"""

from humanoid_devices_can.errors import WireError
from humanoid_devices_robstride.wire.codes import (
    CommunicationType,
    Fault,
    FaultWarning,
    Mode,
    ParameterId,
    StatusFault,
)
from humanoid_devices_robstride.wire.frames import (
    DEFAULT_HOST,
    PAYLOAD_BYTES,
    FaultReport,
    Frame,
    OperationControl,
    Status,
    disable,
    enable,
    identifier,
    parse_identifier,
)
from humanoid_devices_robstride.wire.parameters import (
    ReadParameter,
    WriteParameter,
    pack_value,
    unpack_value,
)

__all__ = [
    "DEFAULT_HOST",
    "PAYLOAD_BYTES",
    "CommunicationType",
    "Fault",
    "FaultReport",
    "FaultWarning",
    "Frame",
    "Mode",
    "OperationControl",
    "ParameterId",
    "ReadParameter",
    "Status",
    "StatusFault",
    "WireError",
    "WriteParameter",
    "disable",
    "enable",
    "identifier",
    "pack_value",
    "parse_identifier",
    "unpack_value",
]
