"""The reports of the stack about disabled motors are parsed correctly."""

from __future__ import annotations

from fault_campaign.judging.power_claims import (
    confirmed_at_exit,
    confirmed_at_start,
    disabled_by_guard,
    false_claims,
)

JOINTS = ("left_wrist_roll", "left_wrist_pitch", "right_wrist_roll")
_MAY = "joints may still be powered: PrimeSitoCAN: "
_FALL = "falling to DAMPING: PrimeSitoCAN reports FAULT: left_wrist_pitch (id 23): silent"


def test_an_exit_that_names_no_motor_calls_all_disabled() -> None:
    assert confirmed_at_exit(JOINTS, [_FALL]) == list(JOINTS)


def test_unconfirmed_motor_is_not_claimed_as_disabled_at_the_exit() -> None:
    text = f"{_MAY}not confirmed that it is disabled: left_wrist_roll (id 22): was silent before"
    assert confirmed_at_exit(JOINTS, [_FALL, text]) == ["left_wrist_pitch", "right_wrist_roll"]


def test_an_exit_without_an_adapter_calls_nothing_disabled() -> None:
    names = ", ".join(f"{joint} (id 1)" for joint in JOINTS)
    text = f"{_MAY}not disabled: {names}: the adapter is gone: plug it in again"
    assert confirmed_at_exit(JOINTS, [text]) == []


def test_motor_that_may_be_enabled_is_not_claimed_as_disabled_at_the_start() -> None:
    text = "PrimeSitoCAN: left_wrist_roll (id 22): no answer within 3 s on slcan can: powered?"
    assert confirmed_at_start(JOINTS, text) == list(JOINTS)
    text += "; may still be enabled: left_wrist_roll (id 22): was silent before"
    assert confirmed_at_start(JOINTS, text) == ["left_wrist_pitch", "right_wrist_roll"]


def test_the_joints_before_disabled_by_the_guard_in_a_report_are_found() -> None:
    text = (
        "left_wrist_roll (id 22), left_wrist_pitch (id 23): disabled by the guard: the control "
        "loop stood still; right_wrist_roll (id 38): silent before, may be enabled"
    )
    assert disabled_by_guard(JOINTS, text) == ["left_wrist_roll", "left_wrist_pitch"]
    assert disabled_by_guard(JOINTS, _FALL) == []


def test_a_claim_is_false_where_the_motor_is_enabled() -> None:
    assert false_claims(JOINTS, lambda joint: joint == "left_wrist_pitch") == "left_wrist_pitch"
    assert false_claims(JOINTS, lambda _: False) == ""
