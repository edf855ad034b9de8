import dataclasses

import pytest

from humanoid_control_cli.mode_status import (
    UNCHANGED_STATEMENTS,
    ModeStatus,
    PendingRequest,
    Refusal,
)
from humanoid_control_common.modes import Intent, Mode

DAMPING = ModeStatus(Mode.DAMPING, "damping_controller", "", 3, 0)
STANDBY = ModeStatus(Mode.STANDBY, "standby_controller", "", 4, 0)


def with_message(statement: ModeStatus, message: str) -> ModeStatus:
    return dataclasses.replace(statement, message=message)


def test_a_granted_request_is_answered_by_the_new_statement() -> None:
    request = PendingRequest(Intent.LOAD, DAMPING)
    assert request.answer(DAMPING) is None
    assert request.answer(STANDBY) is STANDBY


def test_a_refused_request_is_answered_by_its_reason() -> None:
    request = PendingRequest(Intent.START_REMOTE, DAMPING)
    refused = with_message(DAMPING, "Rejected START_REMOTE: requires STANDBY")
    assert request.answer(DAMPING) is None
    assert request.answer(refused) == Refusal("Rejected START_REMOTE: requires STANDBY")


def test_a_refusal_with_the_text_of_the_previous_one_counts_after_a_while() -> None:
    before = with_message(DAMPING, "Rejected START_REMOTE: requires STANDBY")
    request = PendingRequest(Intent.START_REMOTE, before)
    answers = [request.answer(before) for _ in range(UNCHANGED_STATEMENTS)]
    assert answers[:-1] == [None] * (UNCHANGED_STATEMENTS - 1)
    assert answers[-1] == Refusal(before.message)


def test_the_refusal_of_another_request_is_no_answer_however_often_it_is_stated() -> None:
    before = with_message(DAMPING, "Rejected START_REMOTE: requires STANDBY")
    request = PendingRequest(Intent.LOAD, before)
    for _ in range(3 * UNCHANGED_STATEMENTS):
        assert request.answer(before) is None
    assert request.answer(STANDBY) is STANDBY


@pytest.mark.parametrize("message", ["", "Fell to safety: bus off"])
def test_a_request_for_the_mode_in_force_is_answered_after_a_while(message: str) -> None:
    before = with_message(DAMPING, message)
    request = PendingRequest(Intent.DAMP, before)
    answers = [request.answer(before) for _ in range(UNCHANGED_STATEMENTS)]
    assert answers == [None] * (UNCHANGED_STATEMENTS - 1) + [before]


def test_a_request_that_takes_back_another_one_on_its_way_waits_for_its_own_switch() -> None:
    request = PendingRequest(Intent.DAMP, DAMPING)
    again = dataclasses.replace(DAMPING, switch_number=5)
    assert [request.answer(s) for s in (DAMPING, STANDBY, again)] == [None, None, again]


def test_a_fall_after_the_request_is_reported_as_its_failure() -> None:
    fallen = dataclasses.replace(DAMPING, message="Fell to safety: NaN", switch_number=5)
    assert PendingRequest(Intent.LOAD, DAMPING).answer(fallen) == Refusal("Fell to safety: NaN")


def test_a_switch_that_fails_again_in_the_same_words_is_a_refusal() -> None:
    failed = with_message(DAMPING, "Switch failed: no answer from the wrist")
    request = PendingRequest(Intent.LOAD, failed)
    assert request.answer(failed) is None
    assert request.answer(DAMPING) is None  # granted: the old reason is gone
    assert request.answer(failed) == Refusal(failed.message)


def test_a_switch_of_another_client_is_no_answer() -> None:
    limp = ModeStatus(Mode.ZERO_TORQUE, "zero_torque_controller", "", 4, 0)
    assert PendingRequest(Intent.LOAD, DAMPING).answer(limp) is None


def test_a_request_that_waits_is_not_answered_yet_however_long_it_takes() -> None:
    request = PendingRequest(Intent.LOAD, DAMPING)
    waiting = with_message(DAMPING, "LOAD waits: impedance of DAMPING not confirmed by drives")
    for _ in range(3 * UNCHANGED_STATEMENTS):
        assert request.answer(waiting) is None
    refused = with_message(DAMPING, "Rejected LOAD: impedance of DAMPING not confirmed by drives")
    assert request.answer(refused) == Refusal(refused.message)


def test_forced_zero_torque_gets_its_own_refusal() -> None:
    before = with_message(STANDBY, "Rejected FORCE_ZERO_TORQUE: requires DAMPING")
    request = PendingRequest(Intent.FORCE_ZERO_TORQUE, before)
    answers = [request.answer(before) for _ in range(UNCHANGED_STATEMENTS)]
    assert answers[-1] == Refusal(before.message)
