"""Settings of a CAN bus and its motors, parsed and checked from a <ros2_control> block."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast

from can.util import cast_from_string

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.calibration import Calibration
from humanoid_control_common.robot.joints import JointLimits
from humanoid_controller_manager.hardware.block_parameters import (
    calibration,
    complete,
    integer,
    not_negative,
    one_of,
    optional_positive,
)
from humanoid_controller_manager.hardware_component import HardwareInfo, JointInfo
from humanoid_devices_can.bus.bus import BusSettings

REQUIRED: Final = ("interface", "channel", "calibration_file")
# Bitrate [bit/s]: both families' only documented one. `_guard_timeout` has its default.
OPTIONAL: Final = {"bitrate": "1000000", "guard_timeout": ""}
JOINT_REQUIRED: Final = ("can_id", "model")
EFFORT_TOLERANCE: Final = "effort_tolerance"  # of each joint, optional
OPTION_PREFIX: Final = "can_option."  # the rest of the name is an argument of python-can
LONGEST_SLEEP: Final = 60.0  # [s] for a serial adapter that restarts when it is opened
# The options of slcan, which is this package's own: their values, and whether one is valid.
_SLCAN_OPTIONS: Final[Mapping[str, tuple[str, Callable[[object], bool]]]] = {
    "sleep_after_open": (
        f"a time in s, 0 to {LONGEST_SLEEP:g}",
        lambda it: type(it) in (int, float) and 0.0 <= cast("float", it) <= LONGEST_SLEEP,
    ),
    "tty_baudrate": ("a rate in bit/s", lambda it: type(it) is int and it > 0),
    "rtscts": ("True or False", lambda it: isinstance(it, bool)),
}
HIGHEST_ID: Final = 0xFF
HIGHEST_BITRATE: Final = 1_000_000  # CAN 2.0
USUAL_TIMEOUT: Final = 0.2  # [s] the loop may stand still; the same as RX_TIMEOUT
LONGEST_TIMEOUT: Final = 1.0  # [s] a robot may move without a control process
SHORTEST_TIMEOUT: Final = 2.5  # periods of the loop


@dataclass(frozen=True, slots=True)
class Motor:
    """One motor and the joint it moves."""

    joint: str
    id: int  # on the bus
    model: str
    parameters: Mapping[str, str]  # of its family; empty: not given
    where: str  # for messages about the configuration
    effort_tolerance: float | None = None  # [Nm], see EffortCheck; None: the usual one

    def __str__(self) -> str:
        return f"{self.joint} (id {self.id})"


@dataclass(frozen=True, slots=True, kw_only=True)
class CanSettings:
    """The block's settings, motors in the block's order."""

    name: str  # of the block
    where: str  # for messages about the configuration
    bus: BusSettings
    parameters: Mapping[str, str]  # of the family; empty: not given
    motors: tuple[Motor, ...]
    guard_timeout: float  # [s] the loop may stand still before the guard acts; 0: no guard
    limits: JointLimits
    update_rate: float  # [Hz] of the control loop
    calibration: Calibration

    def motor_at(self) -> dict[int, int]:
        """Return the index of each motor by its id."""
        return {motor.id: i for i, motor in enumerate(self.motors)}

    def models(self, known: Mapping[str, object]) -> list[str]:
        """Return the motors' models. Raises ConfigError for one that is not in `known`."""
        return [one_of({"model": m.model}, "model", m.where, known) for m in self.motors]


def parse_settings(
    info: HardwareInfo,
    block_optional: Mapping[str, str],
    joint_optional: Mapping[str, str],
    *,
    extended: bool = True,
) -> CanSettings:
    """Return the settings of block `info`, whose family has further optional parameters.

    `extended`: the family's frames have 29-bit identifiers, else 11-bit ones.

    Raises ConfigError that names block, joint and parameter, with what was found and expected.
    """
    where = info.place
    options = {k: v for k, v in info.parameters.items() if k.startswith(OPTION_PREFIX)}
    others = {k: v for k, v in info.parameters.items() if k not in options}
    block = complete(others, REQUIRED, {**OPTIONAL, **block_optional}, where)
    motors = tuple(_motor(joint, joint_optional, where) for joint in info.joints)
    _check_ids(motors, where)
    ids = [motor.id for motor in motors]
    return CanSettings(
        name=info.name,
        where=where,
        bus=_bus(block, options, extended, where),
        parameters={name: block[name] for name in block_optional},
        motors=motors,
        guard_timeout=silence_allowed(block, "guard_timeout", info.update_rate, where),
        limits=info.limits,
        update_rate=info.update_rate,
        calibration=calibration(block["calibration_file"], info.joint_set.names, ids, info.block),
    )


def silence_allowed(
    parameters: Mapping[str, str], name: str, update_rate: float, where: str
) -> float:
    """Return a watchdog time [s], 0: never. Raises ConfigError.

    An empty parameter gives USUAL_TIMEOUT, or more if the loop's rate [Hz] needs it.
    """
    shortest = SHORTEST_TIMEOUT / update_rate
    if not parameters[name]:
        return max(USUAL_TIMEOUT, shortest)
    found = not_negative(parameters, name, where)
    if found and not shortest <= found <= LONGEST_TIMEOUT:
        raise ConfigError(
            f"{where}: {name} is {found:g} s, expected {shortest:g} s ({SHORTEST_TIMEOUT:g} "
            f"periods at {update_rate:g} Hz) to {LONGEST_TIMEOUT:g} s, or 0 for never"
        )
    return found


def _bus(
    block: Mapping[str, str], options: Mapping[str, str], extended: bool, where: str
) -> BusSettings:
    bitrate = integer(block, "bitrate", where, HIGHEST_BITRATE)
    if bitrate == 0:
        raise ConfigError(f"{where}: bitrate is 0, expected the motors' rate in bit/s")
    typed = {k.removeprefix(OPTION_PREFIX): cast_from_string(v) for k, v in options.items()}
    if block["interface"] == "slcan":
        _check_slcan(typed, where)
    return BusSettings(block["interface"], block["channel"], bitrate, typed, extended)


def _check_slcan(options: Mapping[str, object], where: str) -> None:
    for name, value in options.items():
        if name not in _SLCAN_OPTIONS:
            known = ", ".join(OPTION_PREFIX + it for it in _SLCAN_OPTIONS)
            raise ConfigError(f"{where}: slcan has no {OPTION_PREFIX}{name}; it has {known}")
        expected, is_valid = _SLCAN_OPTIONS[name]
        if not is_valid(value):
            found = f"{OPTION_PREFIX}{name} is {value!r}"
            raise ConfigError(f"{where}: {found}, expected {expected}")


def _motor(joint: JointInfo, optional: Mapping[str, str], where: str) -> Motor:
    place = f"{where}: joint '{joint.name}'"
    known = {EFFORT_TOLERANCE: "", **optional}
    found = complete(joint.parameters, JOINT_REQUIRED, known, place)
    id_ = integer(found, "can_id", place, HIGHEST_ID)
    tolerance = optional_positive(found, EFFORT_TOLERANCE, place)
    own = {name: found[name] for name in optional}
    return Motor(joint.name, id_, found["model"], own, place, tolerance)


def _check_ids(motors: Sequence[Motor], where: str) -> None:
    first: dict[int, str] = {}
    for motor in motors:
        if motor.id in first:
            raise ConfigError(
                f"{where}: joints '{first[motor.id]}' and '{motor.joint}' have the same can_id "
                f"{motor.id}; every motor on a bus has its own"
            )
        first[motor.id] = motor.joint
