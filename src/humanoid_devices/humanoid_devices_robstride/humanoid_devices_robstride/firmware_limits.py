"""Limits that the motor's firmware enforces, written and read back before it is enabled."""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from humanoid_control_common.errors import ConfigError
from humanoid_controller_manager.hardware.block_parameters import optional_positive
from humanoid_devices_can.errors import ProtocolError
from humanoid_devices_can.motor_protocol import Exchange, Judge
from humanoid_devices_can.settings import Motor, silence_allowed
from humanoid_devices_robstride.codec import (
    CommunicationType,
    ParameterId,
    ReadParameter,
    WriteParameter,
    active_report,
    pack_value,
    parse_identifier,
)

# Joint parameters of the block. Empty: the motor keeps its value; its CAN time-out is always set.
JOINT_PARAMETERS: Final = {"torque_limit": "", "current_limit": "", "can_timeout": ""}
TICKS_PER_SECOND: Final = 20000.0  # unit of 0x7028 (public Robstride documentation)
_OPERATION_CONTROL: Final = 0.0  # run mode of the MIT law (public Robstride documentation)

_WAY_OUT: Final = "; can_timeout: 0 in the hardware file leaves it out, and a guard takes its place"

Limits = Mapping[ParameterId, float]  # in the motor's units


def parse_limits(motor: Motor, largest_torque: float, update_rate: float) -> Limits:
    """Return the limits for a model with `largest_torque` [Nm], in a loop of that rate [Hz].

    Raises ConfigError.
    """
    torque = optional_positive(motor.parameters, "torque_limit", motor.where)  # [Nm]
    if torque is not None and torque > largest_torque:
        raise ConfigError(
            f"{motor.where}: torque_limit is {torque:g} Nm, {motor.model} has {largest_torque:g}"
        )
    current = optional_positive(motor.parameters, "current_limit", motor.where)  # [A]
    timeout = silence_allowed(motor.parameters, "can_timeout", update_rate, motor.where)  # [s]
    wanted = {
        ParameterId.RUN_MODE: _OPERATION_CONTROL,
        ParameterId.TORQUE_LIMIT: torque,
        ParameterId.CURRENT_LIMIT: current,
        ParameterId.CAN_TIMEOUT: float(round(timeout * TICKS_PER_SECOND)),
    }
    limits = {parameter: value for parameter, value in wanted.items() if value is not None}
    try:
        for parameter, value in limits.items():
            pack_value(parameter, value)
    except ProtocolError as error:
        raise ConfigError(f"{motor.where}: {error}") from error
    return limits


def watchdog_time(limits: Limits) -> float:
    """Return how long [s] a motor with these limits runs without a command; infinite: for ever."""
    ticks = limits[ParameterId.CAN_TIMEOUT]
    return ticks / TICKS_PER_SECOND if ticks else math.inf


def setting(motor: int, device: int, host: int, limits: Limits) -> Sequence[Exchange]:
    """Return the exchanges that set `limits` on the motor with id `device`, in order.

    Settings that another program may have left come first, since they need no answer: a motor that
    reports by itself is told to stop (Activation finds one that does not), and its offset is read.
    """
    foreign = (
        active_report(host, device, on=False),
        ReadParameter(host, device, ParameterId.ADD_OFFSET).encode(),
    )
    return [
        Exchange(
            motor,
            (
                *foreign,
                WriteParameter(host, device, parameter, pack_value(parameter, value)).encode(),
                ReadParameter(host, device, parameter).encode(),
            ),
            _reads_back(device, parameter, pack_value(parameter, value)),
        )
        for parameter, value in limits.items()
    ]


def _reads_back(device: int, parameter: ParameterId, value: bytes) -> Judge:
    is_timeout = parameter is ParameterId.CAN_TIMEOUT

    def judge(identifier: int, payload: bytes) -> str | None:
        if parse_identifier(identifier)[0] is not CommunicationType.READ_PARAMETER:
            return None
        answer = ReadParameter.decode(identifier, payload)
        if answer.sender & 0xFF != device or answer.parameter != parameter:
            return None
        name = f"{parameter.name.lower()} (0x{parameter:04X})"
        if answer.refused:
            if is_timeout and not any(value):
                return ""  # without a time-out of the motor, a guard watches the bus
            return f"its firmware does not let {name} be read{_WAY_OUT if is_timeout else ''}"
        if answer.value != value:
            return f"{name} reads back {answer.value.hex(' ')}, written was {value.hex(' ')}"
        return ""

    return judge
