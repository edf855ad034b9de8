"""A family that omits a duty is refused before its bus is opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_devices_can.guard.disabled_proof import DisabledProof
from humanoid_devices_can.motor_protocol import FamilyKind, MotorFamily
from humanoid_devices_can.settings import CanSettings
from src.humanoid_devices.test.can_bench import CanRig, system_of

SHARED = DisabledProof(answer=(0xFF00, 0x0200))
FIRST, SECOND = DisabledProof((0x401, 0x501)), DisabledProof((0x402, 0x501))


def same(value: object) -> Callable[..., object]:
    return lambda *_: value


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"effort_limit": 5.0}, r"effort_limit is 5\.0, expected a positive number for each of 2"),
        ({"damping_limit": np.array([1.0, 0.0])}, r"damping_limit is \[1\.0, 0\.0\], expected"),
        ({"position_limit": np.array([1.0, np.nan])}, r"position_limit is \[1\.0, nan\], expected"),
        ({"stiffness_limit": np.ones(3)}, r"stiffness_limit is \[1\.0, 1\.0, 1\.0\], expected"),
        ({"commands": same([(1, b"")])}, r"commands\(\) returns 1 frames, expected one for each"),
        ({"gains": same([(1, b"")])}, r"gains\(\) returns 1 frames, expected one for each of 2"),
        ({"gains": same([(0x101, bytes(9))] * 2)}, r"frame 0x101 has 9 bytes, expected 8 at most"),
        ({"saturated": same(np.zeros(2, np.bool_))}, r"does not report a position of 1e\+12"),
        ({"saturated": same(np.array([True, False]))}, r"does not report a position of 1e\+12"),
        ({"gains": same([])}, r"does not report a stiffness of 1e\+12, expected True for every"),
        ({"disabled_proof": same(FIRST)}, r"names feedback, but feedback_rate is 0"),
        ({"disabled_proof": same(SHARED)}, r"takes the same frame for motors 0 and 1"),
        (
            {"feedback_rate": 100.0, "disabled_proof": lambda motor: (FIRST, SECOND)[motor]},
            r"takes the same frame for motors 0 and 1, so one would prove that the other",
        ),
    ],
)
def test_family_that_omits_a_duty_is_refused(
    plain: FamilyKind, can_info, can_rig, changed, problem
) -> None:
    def build(settings: CanSettings) -> MotorFamily:
        family = plain.build(settings)
        vars(family).update(changed)
        return family

    kind = replace(plain, name="made", build=build)
    with pytest.raises(ConfigError, match=rf"Wrists'>: family made: .*{problem}.*; mend the fam"):
        can_rig(system_of(kind)(), can_info([1, 2], "plain"))


@pytest.mark.parametrize(
    "proofs",
    [
        (DisabledProof(), DisabledProof()),
        (DisabledProof(answer=(0xFF, 1)), DisabledProof(answer=(0xFF, 2))),
        (DisabledProof(answer=(0xFF, 1)), DisabledProof()),
    ],
)
def test_motors_with_proofs_of_their_own_or_none_are_accepted(
    plain: FamilyKind, can_info, can_rig, monkeypatch, proofs
) -> None:
    monkeypatch.setattr(plain.build, "disabled_proof", lambda _, motor: proofs[motor])
    rig = can_rig(system_of(plain)(), can_info([1, 2], "plain"))
    assert isinstance(rig, CanRig)
