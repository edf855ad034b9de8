"""Checks of a motor family that need no bus: an omitted duty must not show on the robot first."""

import math
from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_devices_can.bus.bus import LONGEST_PAYLOAD, BusSettings, check_identifier
from humanoid_devices_can.errors import ProtocolError
from humanoid_devices_can.guard.disabled_proof import DisabledProof
from humanoid_devices_can.motor_protocol import Exchange, FamilyKind, MotorFamily
from humanoid_devices_can.settings import CanSettings

LIMITED: Final = ("position", "effort", "stiffness", "damping")  # of a command: each has a limit
BEYOND: Final = 1e12  # rad, rad/s, Nm, Nm/rad or Nm s/rad: no field carries it


class _DutyError(Exception):
    """A duty is missing, raises an exception, or returns another type."""


def check_family(kind: FamilyKind, family: MotorFamily, settings: CanSettings) -> None:
    """Raise ConfigError for a family that breaks a duty of MotorFamily."""
    for check in (_numbers, _frames, _exchanges, _saturation, _reach, _proofs, _decoding):
        try:
            problem = next(check(family, settings), "")
        except _DutyError as error:
            problem = str(error)
        if problem:
            raise ConfigError(
                f"{settings.where}: family {kind.name}: {problem}; mend the family's code, see "
                "docs/add_a_motor_family.md"
            )


def _result(family: MotorFamily, duty: str, kind: type, *arguments: object, **named: object) -> Any:
    """Return the result of a duty. Raises _DutyError unless it is of its type."""
    try:
        found = getattr(family, duty)(*arguments, **named)
    except Exception as error:  # the code of a family may raise anything
        raise _DutyError(f"{duty}() raises {type(error).__name__}: {error}") from error
    if not isinstance(found, kind):
        raise _DutyError(f"{duty}() returns {found!r}, expected {kind.__name__}")
    return found


def _numbers(family: MotorFamily, settings: CanSettings) -> Iterator[str]:
    count = len(settings.motors)
    for name in (*(f"{field}_limit" for field in LIMITED), "watchdog"):
        values = np.asarray(getattr(family, name, None), dtype=np.float64)
        # CanSystem compares the watchdog with the loop's period.
        if values.shape != (count,) or not (name == "watchdog" or (values > 0.0).all()):
            yield (
                f"{name} is {values.tolist()}, expected a positive number for each of {count} "
                "motors"
            )
    rate = getattr(family, "feedback_rate", None)
    if not isinstance(rate, float | int) or not 0.0 <= rate < math.inf:
        yield f"feedback_rate is {rate}, expected the measurements per second of a motor, or 0"


def _frames(family: MotorFamily, settings: CanSettings) -> Iterator[str]:
    count = len(settings.motors)
    commands = _result(family, "commands", Sequence, JointCommand(count))
    gains = _result(family, "gains", Sequence, JointCommand(count))
    if len(commands) != count:
        yield f"commands() returns {len(commands)} frames, expected one for each of {count} motors"
    if len(gains) not in (0, count):
        yield f"gains() returns {len(gains)} frames, expected one for each of {count} motors"
    for duty, frames in (("commands", commands), ("gains", gains)):
        for frame in frames:
            yield from _frame(duty, frame, settings.bus)
        for (first, one), (second, other) in combinations(enumerate(frames), 2):
            if one == other:
                yield (
                    f"{duty}() returns the same frame for motors {first} and {second}: expected "
                    "the motor's id in it"
                )


def _frame(duty: str, frame: object, bus: BusSettings) -> Iterator[str]:
    match frame:
        case (int(identifier), bytes(payload)):
            try:
                check_identifier(identifier, bus)
            except ProtocolError as error:
                yield f"{duty}(): {error}"
            if len(payload) > LONGEST_PAYLOAD:
                yield (
                    f"{duty}(): frame 0x{identifier:X} has {len(payload)} bytes, expected "
                    f"{LONGEST_PAYLOAD} at most"
                )
        case _:
            yield f"{duty}(): {frame!r} is no frame, expected identifier and payload: int, bytes"


def _exchanges(family: MotorFamily, settings: CanSettings) -> Iterator[str]:
    for motor in range(len(settings.motors)):
        for duty, exchange in _exchanges_of(family, motor):
            if exchange.motor != motor:
                yield (
                    f"{duty}({motor}) returns an exchange with motor {exchange.motor}, expected "
                    "the same number, which is not the motor's id"
                )
            if not exchange.request:
                yield f"{duty}({motor}) returns an exchange without frames"
            for frame in exchange.request:
                yield from _frame(duty, frame, settings.bus)


def _exchanges_of(family: MotorFamily, motor: int) -> Iterator[tuple[str, Exchange]]:
    for clears in (False, True):
        yield "disabling", _result(family, "disabling", Exchange, motor, clear_faults=clears)
    for exchange in _result(family, "preparing", Sequence, motor):
        yield "preparing", exchange
    yield "enabling", _result(family, "enabling", Exchange, motor)


def _saturation(family: MotorFamily, settings: CanSettings) -> Iterator[str]:
    count = len(settings.motors)
    fields = ["position", "velocity", "effort"]
    if not family.gains(JointCommand(count)):
        fields += ["stiffness", "damping"]
    for field in fields:
        if not saturates(family, field, np.full(count, BEYOND)).all():
            yield (
                f"saturated() does not report a {field} of {BEYOND:g}, expected True for every "
                "motor, since nothing else tells that a command was changed"
            )


def _reach(family: MotorFamily, settings: CanSettings) -> Iterator[str]:
    for field in LIMITED:
        name = f"{field}_limit"
        limit = np.asarray(getattr(family, name), dtype=np.float64)
        ends = (limit, -limit) if field in ("position", "effort") else (limit,)
        if any(saturates(family, field, end).any() for end in ends):
            yield (
                f"{name} is {limit.tolist()}, but commands() saturates it: expected at most what "
                "a frame carries, in SI units"
            )


def saturates(family: MotorFamily, field: str, values: FloatArray) -> NDArray[np.bool_]:
    """Return for which motors a command, whose `field` has these values, is saturated."""
    command = JointCommand(len(values))
    getattr(command, field)[:] = values
    _result(family, "commands", Sequence, command)
    saturated: NDArray[np.bool_] = _result(family, "saturated", np.ndarray)
    _result(family, "gains", Sequence, command)  # must not raise
    return saturated


def _proofs(family: MotorFamily, settings: CanSettings) -> Iterator[str]:
    proofs = [
        _result(family, "disabled_proof", DisabledProof, motor)
        for motor in range(len(settings.motors))
    ]
    if not family.feedback_rate and any(proof.feedback for proof in proofs):
        yield (
            "disabled_proof() names feedback, but feedback_rate is 0, and a motor that only "
            "answers is silent while it is enabled, too: expected an answer, or nothing"
        )
    for mask, value in (proof.answer for proof in proofs if proof.answer is not None):
        if value & ~mask:
            yield (
                f"disabled_proof() expects 0x{value:X} in the bits 0x{mask:X} of an identifier, "
                "which no identifier has: expected only bits of the mask"
            )
    for (first, one), (second, other) in combinations(enumerate(proofs), 2):
        if _overlap(one, other):
            yield (
                f"disabled_proof() takes the same frame for motors {first} and {second}, so one "
                "would prove that the other is disabled: expected the motor's id in it"
            )


def _overlap(first: DisabledProof, second: DisabledProof) -> bool:
    if set(first.feedback) & set(second.feedback):
        return True
    if first.answer is None or second.answer is None:
        return False
    (mask, value), (other_mask, other_value) = first.answer, second.answer
    return not (value ^ other_value) & mask & other_mask


def _decoding(family: MotorFamily, settings: CanSettings) -> Iterator[str]:
    """Yield how a frame of another sender would end the thread that receives."""
    try:
        family.decode(0, b"")
    except ProtocolError:
        return
    except Exception as error:  # the code of a family may raise anything
        yield (
            f"decode(0, b'') raises {type(error).__name__}: {error}; expected ProtocolError for a "
            "frame of another sender"
        )
