"""A family that omits a duty is refused before its bus is opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_devices_can.bus.bus import CanFrame
from humanoid_devices_can.guard.disabled_proof import DisabledProof
from humanoid_devices_can.motor_protocol import Exchange, FamilyKind, MotorFamily
from humanoid_devices_can.settings import CanSettings
from src.humanoid_devices.test.can_bench import CanRig, system_of

SHARED = DisabledProof(answer=(0xFF00, 0x0200))
FIRST, SECOND = DisabledProof((0x401, 0x501)), DisabledProof((0x402, 0x501))


def same(value: object) -> Callable[..., object]:
    return lambda *_, **__: value


def fails(*_: object, **__: object) -> None:
    raise ValueError("17 is too many")


def order(motor: int, *request: object) -> Callable[..., object]:
    return same(Exchange(motor, request))  # type: ignore[arg-type]  # as a wrong family


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
        ({"watchdog": 0.2}, r"watchdog is 0\.2, expected a positive number for each of 2 motors"),
        ({"feedback_rate": np.nan}, r"feedback_rate is nan, expected the measurements per second"),
        ({"commands": same([(1, b"")] * 2)}, r"commands\(\) returns the same frame for motors 0"),
        ({"commands": same([1, 2])}, r"commands\(\): 1 is no frame, expected identifier and pay"),
        ({"commands": same([(1 << 29, b"")] * 2)}, r"0x20000000 has more than the family's 29 bi"),
        ({"gains": same(None)}, r"gains\(\) returns None, expected Sequence"),
        ({"commands": fails}, r"commands\(\) raises ValueError: 17 is too many"),
        ({"position_limit": np.full(2, 2e9)}, r"position_limit is .*, but commands\(\) saturates"),
        ({"enabling": order(1, (1, b""))}, r"enabling\(0\) returns an exchange with motor 1, exp"),
        ({"enabling": order(0)}, r"enabling\(0\) returns an exchange without frames"),
        ({"enabling": order(0, (1, bytes(9)))}, r"enabling\(\): frame 0x1 has 9 bytes"),
        ({"disabling": order(0, 1, b"")}, r"disabling\(\): 1 is no frame, expected identifier"),
        ({"preparing": fails}, r"preparing\(\) raises ValueError: 17 is too many"),
        (
            {"preparing": same([Exchange(1, ((1, b""),))])},
            r"preparing\(0\) returns an exchange wit",
        ),
        ({"enabling": same(None)}, r"enabling\(\) returns None, expected Exchange"),
        ({"disabled_proof": same(DisabledProof(answer=(0xFF, 0x101)))}, r"which no identifier has"),
        ({"decode": fails}, r"decode\(0, b''\) raises ValueError: 17 .*; expected ProtocolError"),
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


def test_family_without_a_duty_is_refused(
    plain: FamilyKind, can_info, can_rig, monkeypatch
) -> None:
    """A misspelt name would show while the motors are being enabled."""
    monkeypatch.delattr(plain.build, "enabling")
    with pytest.raises(ConfigError, match=r"enabling\(\) raises AttributeError: .*'enabling'"):
        can_rig(system_of(plain)(), can_info([1, 2], "plain"))


def test_limit_of_gains_that_their_frames_do_not_carry_is_refused(
    plain: FamilyKind, can_info, can_rig, monkeypatch
) -> None:
    """Their frame would be missing in the tick that raises the stiffness."""
    gains = plain.build.gains

    def raises_beyond(family: MotorFamily, command: JointCommand) -> list[CanFrame]:
        if command.stiffness.max() > 99.0:
            raise ValueError("beyond 16 bits")
        return gains(family, command)

    monkeypatch.setattr(plain.build, "gains", raises_beyond)
    with pytest.raises(ConfigError, match=r"gains\(\) raises ValueError: beyond 16 bits"):
        can_rig(system_of(plain)(), can_info([1, 2], "plain"))
