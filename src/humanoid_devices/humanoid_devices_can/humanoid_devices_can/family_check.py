"""Checks of a motor family that need no bus: an omitted duty must not show on the robot first."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

import numpy as np

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_devices_can.bus.bus import LONGEST_PAYLOAD
from humanoid_devices_can.guard.disabled_proof import DisabledProof
from humanoid_devices_can.motor_protocol import FamilyKind, MotorFamily
from humanoid_devices_can.settings import CanSettings

LIMITS: Final = ("position_limit", "effort_limit", "stiffness_limit", "damping_limit")
BEYOND: Final = 1e12  # rad, rad/s, Nm, Nm/rad or Nm s/rad: no field carries it


def check_family(kind: FamilyKind, family: MotorFamily, settings: CanSettings) -> None:
    """Raise ConfigError for a family that breaks a duty of MotorFamily."""
    count = len(settings.motors)
    for check in (_limits, _frames, _saturation, _proofs):
        for problem in check(family, count):
            raise ConfigError(
                f"{settings.where}: family {kind.name}: {problem}; mend the family's code, see "
                "docs/add_a_motor_family.md"
            )


def _limits(family: MotorFamily, count: int) -> Iterator[str]:
    for name in LIMITS:
        values = np.asarray(getattr(family, name))
        if values.shape != (count,) or not (values > 0.0).all():
            yield (
                f"{name} is {values.tolist()}, expected a positive number for each of {count} "
                "motors"
            )


def _frames(family: MotorFamily, count: int) -> Iterator[str]:
    zero = JointCommand(count)
    commands, gains = family.commands(zero), family.gains(zero)
    if len(commands) != count:
        yield f"commands() returns {len(commands)} frames, expected one for each of {count} motors"
    if len(gains) not in (0, count):
        yield f"gains() returns {len(gains)} frames, expected one for each of {count} motors"
    for identifier, payload in (*commands, *gains):
        if len(payload) > LONGEST_PAYLOAD:
            yield (
                f"frame 0x{identifier:X} has {len(payload)} bytes, expected {LONGEST_PAYLOAD} at "
                "most"
            )


def _saturation(family: MotorFamily, count: int) -> Iterator[str]:
    fields = ["position", "velocity", "effort"]
    if not family.gains(JointCommand(count)):
        fields += ["stiffness", "damping"]
    for field in fields:
        command = JointCommand(count)
        getattr(command, field)[:] = BEYOND
        family.commands(command)
        if not family.saturated().all():
            yield (
                f"saturated() does not report a {field} of {BEYOND:g}, expected True for every "
                "motor, since nothing else tells that a command was changed"
            )


def _proofs(family: MotorFamily, count: int) -> Iterator[str]:
    proofs = [family.disabled_proof(motor) for motor in range(count)]
    if not family.feedback_rate and any(proof.feedback for proof in proofs):
        yield (
            "disabled_proof() names feedback, but feedback_rate is 0, and a motor that only "
            "answers is silent while it is enabled, too: expected an answer, or nothing"
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
