"""The motor families of the virtual robot: one row for each. No other module names them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from humanoid_devices_robstride.codec import Fault
from humanoid_twin.can.motors.firmware import Firmware, Send
from humanoid_twin.can.motors.robstride_motor import RobstrideFirmware
from humanoid_twin.can.motors.robstride_parameters import ROBSTRIDE_MODELS
from humanoid_twin.can.motors.sito_motor import SITO_MODELS, SitoFirmware
from humanoid_twin.errors import CanError


@dataclass(frozen=True, slots=True)
class MotorFamily:
    """Motors with one firmware."""

    firmware: Callable[[Any, int, Send], Firmware]  # of a model's parameters and a CAN id
    models: Mapping[str, Any]  # parameters by name
    default_model: str
    fault: int = 1  # bits of one that has no lasting cause, for `hc twin break`
    effect: str = "has disabled itself and is silent"  # of that, in words


MOTOR_FAMILIES: Final = {
    "sito": MotorFamily(SitoFirmware, SITO_MODELS, "TA40-50"),
    "robstride": MotorFamily(
        RobstrideFirmware,
        ROBSTRIDE_MODELS,
        "rs-02",
        Fault.STALL,
        "reports stall overload and has disabled itself",
    ),
}
_HIGHEST_ID: Final = 0xFF
DEFAULT_MODELS: Final = " or ".join(row.default_model for row in MOTOR_FAMILIES.values())


def check_motor(device: int, family: str, model: str) -> MotorFamily:
    """Return the family of a motor.

    Raises CanError for an id out of range, an unknown family or model.
    """
    if not 0 < device <= _HIGHEST_ID:
        raise CanError(f"CAN id {device}, expected 1 to {_HIGHEST_ID}")
    row = MOTOR_FAMILIES.get(family)
    if row is None:
        raise CanError(f"no motor family '{family}', there are {', '.join(MOTOR_FAMILIES)}")
    if model not in row.models:
        raise CanError(f"{family} has no model '{model}', there are {', '.join(row.models)}")
    return row


def build_firmware(family: str, model: str, device: int) -> Callable[[Send], Firmware]:
    """Return a function that makes the firmware of a motor around its way to send frames.

    Raises what `check_motor` raises.
    """
    row = check_motor(device, family, model)
    parameters = row.models[model]
    return lambda send: row.firmware(parameters, device, send)
