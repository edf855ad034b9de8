import dataclasses

import pytest

from humanoid_control_cli.statements import (
    UNCHANGED_STATEMENTS,
    PendingRequest,
    Refusal,
    Replaced,
    StampedStatement,
)
from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_control_common.rules.reason_codes import (
    FELL_TO_SAFETY,
    IMPEDANCE_NOT_CONFIRMED,
    REFUSED,
    REQUIRES_ANOTHER_MODE,
    WAITS,
)
from humanoid_control_common.rules.reasons import NO_REASON, Reason, ReasonCode
from humanoid_controllers.reason_codes import STIFF_UNTIL_ARMED, SWITCH_FAILED

DAMPING = StampedStatement(Mode.DAMPING, "damping_controller", NO_REASON, 3, 0)
STANDBY = StampedStatement(Mode.STANDBY, "standby_controller", NO_REASON, 4, 0)


FELL = Reason.of(FELL_TO_SAFETY, "Fell to safety: NaN")


def because(statement: StampedStatement, *codes: ReasonCode) -> StampedStatement:
    """Return the statement with a reason; the result must not depend on its text."""
    reason = Reason("any text", tuple(code.name for code in codes))
    return dataclasses.replace(statement, reason=reason)


def test_a_granted_request_is_answered_by_the_new_statement() -> None:
    request = PendingRequest(Intent.LOAD, DAMPING)
    assert request.answer(DAMPING) is None
    assert request.answer(STANDBY) is STANDBY


def test_a_refused_request_is_answered_by_its_reason() -> None:
    request = PendingRequest(Intent.START_REMOTE, DAMPING)
    refused = because(DAMPING, REFUSED["START_REMOTE"], REQUIRES_ANOTHER_MODE)
    assert request.answer(DAMPING) is None
    assert request.answer(refused) == Refusal(refused.reason)


def test_a_refusal_for_the_previous_reason_counts_after_a_while() -> None:
    before = because(DAMPING, REFUSED["START_REMOTE"], REQUIRES_ANOTHER_MODE)
    request = PendingRequest(Intent.START_REMOTE, before)
    answers = [request.answer(before) for _ in range(UNCHANGED_STATEMENTS)]
    assert answers[:-1] == [None] * (UNCHANGED_STATEMENTS - 1)
    assert answers[-1] == Refusal(before.reason)


def test_the_refusal_of_another_request_is_no_answer_however_often_it_is_stated() -> None:
    before = because(DAMPING, REFUSED["START_REMOTE"], REQUIRES_ANOTHER_MODE)
    request = PendingRequest(Intent.LOAD, before)
    for _ in range(3 * UNCHANGED_STATEMENTS):
        assert request.answer(before) is None
    assert request.answer(STANDBY) is STANDBY


@pytest.mark.parametrize("reason", [NO_REASON, FELL])
def test_a_request_for_the_mode_in_force_is_answered_after_a_while(reason: Reason) -> None:
    before = dataclasses.replace(DAMPING, reason=reason)
    request = PendingRequest(Intent.DAMP, before)
    answers = [request.answer(before) for _ in range(UNCHANGED_STATEMENTS)]
    assert answers == [None] * (UNCHANGED_STATEMENTS - 1) + [before]


def test_a_request_that_takes_back_another_one_on_its_way_waits_for_its_own_switch() -> None:
    request = PendingRequest(Intent.DAMP, DAMPING)
    again = dataclasses.replace(DAMPING, switch_number=5)
    assert [request.answer(s) for s in (DAMPING, STANDBY, again)] == [None, None, again]


def test_a_fall_after_the_request_is_reported_as_its_failure() -> None:
    fallen = dataclasses.replace(DAMPING, reason=FELL, switch_number=5)
    assert PendingRequest(Intent.LOAD, DAMPING).answer(fallen) == Refusal(FELL)


def test_a_switch_that_fails_again_with_the_same_text_is_a_refusal() -> None:
    failed = because(DAMPING, SWITCH_FAILED)
    request = PendingRequest(Intent.LOAD, failed)
    assert request.answer(failed) is None
    assert request.answer(DAMPING) is None  # accepted: the old reason has ended
    assert request.answer(failed) == Refusal(failed.reason)


def test_a_switch_of_another_client_is_no_answer() -> None:
    limp = StampedStatement(Mode.ZERO_TORQUE, "zero_torque_controller", NO_REASON, 4, 0)
    assert PendingRequest(Intent.LOAD, DAMPING).answer(limp) is None


def test_a_request_that_waits_is_not_answered_yet_however_long_it_takes() -> None:
    request = PendingRequest(Intent.LOAD, DAMPING)
    waiting = because(DAMPING, WAITS["LOAD"], IMPEDANCE_NOT_CONFIRMED)
    for _ in range(3 * UNCHANGED_STATEMENTS):
        assert request.answer(waiting) is None
    refused = because(DAMPING, REFUSED["LOAD"], IMPEDANCE_NOT_CONFIRMED)
    assert request.answer(refused) == Refusal(refused.reason)


def test_forced_zero_torque_gets_its_own_refusal() -> None:
    before = because(STANDBY, REFUSED["FORCE_ZERO_TORQUE"], REQUIRES_ANOTHER_MODE)
    request = PendingRequest(Intent.FORCE_ZERO_TORQUE, before)
    answers = [request.answer(before) for _ in range(UNCHANGED_STATEMENTS)]
    assert answers[-1] == Refusal(before.reason)


def test_a_note_for_the_operator_and_a_refusal_of_others_are_no_answers() -> None:
    request = PendingRequest(Intent.LOAD, DAMPING)
    for codes in ((STIFF_UNTIL_ARMED,), (REFUSED["START_REMOTE"], REQUIRES_ANOTHER_MODE)):
        assert request.answer(because(DAMPING, *codes)) is None
    refused = because(DAMPING, REFUSED["LOAD"], STIFF_UNTIL_ARMED)
    assert request.answer(refused) == Refusal(refused.reason)


def test_a_change_for_another_request_is_no_answer_and_is_noted() -> None:
    request = PendingRequest(Intent.FORCE_ZERO_TORQUE, DAMPING)
    assert request.answer(DAMPING) is None
    assert not request.overtaken
    answers = [request.answer(STANDBY) for _ in range(UNCHANGED_STATEMENTS + 1)]
    assert answers == [None] * UNCHANGED_STATEMENTS + [Replaced()]
    assert request.overtaken


def test_an_answer_that_another_refusal_replaced_is_not_waited_for() -> None:
    """The same refusal as before was no news; then the refusal of another request came."""
    before = because(DAMPING, REFUSED["START_REMOTE"], REQUIRES_ANOTHER_MODE)
    request = PendingRequest(Intent.START_REMOTE, before)
    other = because(DAMPING, REFUSED["LOAD"], IMPEDANCE_NOT_CONFIRMED)
    assert request.answer(before) is None
    answers = [request.answer(other) for _ in range(UNCHANGED_STATEMENTS + 1)]
    assert answers[-2:] == [None, Replaced()]


def test_a_note_for_the_operator_replaces_no_answer() -> None:
    request = PendingRequest(Intent.LOAD, DAMPING)
    for _ in range(3 * UNCHANGED_STATEMENTS):
        assert request.answer(because(DAMPING, STIFF_UNTIL_ARMED)) is None


def test_a_request_that_waits_is_not_replaced_by_what_was_refused_before_it() -> None:
    request = PendingRequest(Intent.LOAD, DAMPING)
    waiting = because(DAMPING, WAITS["LOAD"], IMPEDANCE_NOT_CONFIRMED)
    assert request.answer(because(DAMPING, REFUSED["START_REMOTE"])) is None
    for _ in range(3 * UNCHANGED_STATEMENTS):
        assert request.answer(waiting) is None
    assert request.answer(DAMPING) is None  # granted: its switch is on its way
    assert request.answer(STANDBY) is STANDBY


def test_a_request_that_took_effect_was_not_overtaken() -> None:
    request = PendingRequest(Intent.LOAD, DAMPING)
    assert request.answer(STANDBY) is STANDBY
    assert not request.overtaken
