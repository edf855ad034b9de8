"""The rules of the modes, over every situation, against the documented transition table."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import pytest

from humanoid_control_common.rules.modes import (
    INTENT_OF_MODE,
    MODE_OF_INTENT,
    SAFE_MODES,
    Decision,
    Intent,
    Mode,
    Situation,
    Verdict,
    decide,
    refused,
    waits,
)
from humanoid_control_common.rules.reason_codes import (
    IMPEDANCE_NOT_CONFIRMED,
    JOINTS_SETTLING,
    NO_POLICY_LOADED,
    SAFETY_SOURCE_FAULT,
    SAFETY_SOURCE_SILENT,
    STANDBY_UNFINISHED,
)
from humanoid_control_common.rules.reasons import NO_REASON, Reason


class Row(NamedTuple):
    """One row of the table: modes in which an intent is allowed, and conditions of stiff modes."""

    allowed_from: set[Mode]
    result: Mode | None
    stiff: bool = False  # needs safety OK and the impedance confirmed
    finished: bool = False  # needs STANDBY to be finished
    rest: bool = False  # needs joints that have been slow for a while


ANY = set(Mode)
TABLE = {
    Intent.ZERO_TORQUE: Row({Mode.DAMPING}, Mode.ZERO_TORQUE, rest=True),
    Intent.FORCE_ZERO_TORQUE: Row({Mode.DAMPING}, Mode.ZERO_TORQUE),
    Intent.DAMP: Row(ANY, Mode.DAMPING),
    Intent.LOAD: Row({Mode.DAMPING}, Mode.STANDBY, stiff=True),
    Intent.START_LOCOMOTION: Row({Mode.STANDBY}, Mode.LOCOMOTION, stiff=True, finished=True),
    Intent.START_REMOTE: Row({Mode.STANDBY}, Mode.REMOTE, stiff=True, finished=True),
    Intent.QUIT: Row({Mode.ZERO_TORQUE, Mode.DAMPING}, None),
}
BAD = Reason.of(SAFETY_SOURCE_FAULT, "battery reports FAULT: low")
FELL = Reason.of(SAFETY_SOURCE_SILENT, "arm fell silent")
WAITING = Reason.of(IMPEDANCE_NOT_CONFIRMED, "impedance of DAMPING not confirmed by drives")
MOVING = "left_elbow_pitch"
SETTLING = Reason.of(JOINTS_SETTLING, "joints slow for less than 0.3 s")
NO_POLICY = Reason.of(NO_POLICY_LOADED, "no policy loaded")
UNFINISHED = Reason.of(STANDBY_UNFINISHED, "still on its way")
# The joints move, have become slow, or are at rest.
MOTIONS = [(MOVING, NO_REASON), ("", SETTLING), ("", NO_REASON)]

SITUATIONS = [
    Situation(
        mode=mode,
        unfinished=unfinished,
        safety_problem=safety,
        latched_fall=latched,
        unconfirmed_impedance=unconfirmed,
        writing_impedance=writing,
        moving=moving,
        settling=settling,
        unusable=unusable,
    )
    for mode, unfinished, safety, latched, unconfirmed, writing, (
        moving,
        settling,
    ), unusable in itertools.product(
        Mode,
        (NO_REASON, UNFINISHED),
        (NO_REASON, BAD),
        (NO_REASON, FELL),
        (NO_REASON, WAITING),
        (False, True),
        MOTIONS,
        (NO_REASON, NO_POLICY),
    )
]
CASES = list(itertools.product(SITUATIONS, Intent))


def expected(situation: Situation, intent: Intent) -> Verdict:
    """Return the verdict by the table, in the order of the rules in the documents."""
    row = TABLE[intent]
    if row.result is situation.mode:
        return Verdict.STAY
    if situation.latched_fall and intent is not Intent.QUIT:
        return Verdict.REFUSE
    conditions = [
        situation.mode in row.allowed_from,
        not row.finished or not situation.unfinished,
        not row.stiff or not situation.safety_problem,
        not row.stiff or not situation.unconfirmed_impedance or situation.writing_impedance,
        not row.stiff or not situation.unusable,
        not row.rest or not situation.moving,
    ]
    if not all(conditions):
        return Verdict.REFUSE
    if (row.stiff and situation.unconfirmed_impedance) or (row.rest and situation.settling):
        return Verdict.WAIT
    return Verdict.SHUT_DOWN if row.result is None else Verdict.SWITCH


def _way_down(situation: Situation, intent: Intent) -> bool:
    """DAMP in a stiff mode that a fall has not left yet; another test checks it."""
    return intent is Intent.DAMP and situation.mode not in SAFE_MODES


@pytest.mark.parametrize("intent", list(Intent))
def test_every_situation_gets_the_verdict_of_the_table(intent: Intent) -> None:
    checked = 0
    for situation in SITUATIONS:
        if situation.latched_fall and _way_down(situation, intent):
            continue
        decision = decide(situation, intent)
        assert decision.verdict is expected(situation, intent), (situation, decision)
        assert bool(decision.reason) == (decision.verdict in {Verdict.REFUSE, Verdict.WAIT})
        checked += 1
    assert checked == (960 - 288 if intent is Intent.DAMP else 960)


def test_damp_leads_out_of_every_stiff_mode_even_while_a_fall_is_latched() -> None:
    """In any mode: the way down must not depend on a fall that is not carried out yet."""
    refused = [
        situation
        for situation in SITUATIONS
        if _way_down(situation, Intent.DAMP)
        and decide(situation, Intent.DAMP) != Decision(Verdict.SWITCH)
    ]
    assert refused == []


@pytest.mark.parametrize("intent", list(Intent))
def test_every_refusal_names_the_intent_and_a_reason(intent: Intent) -> None:
    for situation in SITUATIONS:
        decision = decide(situation, intent)
        if decision.verdict is Verdict.REFUSE:
            prefix = f"Rejected {intent.value}: "
            assert decision.reason.text.startswith(prefix)
            assert len(decision.reason.text) > len(prefix)
            assert decision.reason.codes[0] == refused(intent).name
            assert len(decision.reason.codes) > 1


def test_no_situation_with_a_problem_leads_into_a_stiff_mode() -> None:
    for situation, intent in CASES:
        decision = decide(situation, intent)
        if decision.verdict is Verdict.SWITCH and MODE_OF_INTENT[intent] not in SAFE_MODES:
            assert not situation.safety_problem
            assert not situation.latched_fall
            assert not situation.unconfirmed_impedance


def test_after_a_fall_only_quit_does_anything_from_the_safe_modes() -> None:
    for situation, intent in CASES:
        if situation.latched_fall and situation.mode in SAFE_MODES and intent is not Intent.QUIT:
            assert decide(situation, intent).verdict in {Verdict.REFUSE, Verdict.STAY}


def test_the_same_situation_and_intent_get_the_same_decision() -> None:
    first = [decide(situation, intent) for situation, intent in CASES]
    second = [decide(situation, intent) for situation, intent in reversed(CASES)]
    assert first == second[::-1]


@pytest.mark.parametrize(
    ("situation", "intent", "reason"),
    [
        (
            Situation(mode=Mode.ZERO_TORQUE),
            Intent.LOAD,
            "Rejected LOAD: requires DAMPING (currently ZERO_TORQUE)",
        ),
        (
            Situation(mode=Mode.REMOTE),
            Intent.LOAD,
            "Rejected LOAD: requires DAMPING (currently REMOTE)",
        ),
        (
            Situation(mode=Mode.STANDBY),
            Intent.ZERO_TORQUE,
            "Rejected ZERO_TORQUE: requires DAMPING (currently STANDBY)",
        ),
        (
            Situation(mode=Mode.DAMPING),
            Intent.START_REMOTE,
            "Rejected START_REMOTE: requires STANDBY (currently DAMPING)",
        ),
        (
            Situation(mode=Mode.STANDBY),
            Intent.QUIT,
            "Rejected QUIT: requires ZERO_TORQUE or DAMPING (currently STANDBY)",
        ),
        (
            Situation(mode=Mode.STANDBY, unfinished=NO_REASON, unusable=NO_POLICY),
            Intent.START_LOCOMOTION,
            "Rejected START_LOCOMOTION: no policy loaded",
        ),
        (  # conditions that time cannot meet come first
            Situation(
                mode=Mode.STANDBY,
                unfinished=UNFINISHED,
                safety_problem=BAD,
                unconfirmed_impedance=WAITING,
                unusable=NO_POLICY,
            ),
            Intent.START_LOCOMOTION,
            "Rejected START_LOCOMOTION: no policy loaded",
        ),
        (
            Situation(mode=Mode.STANDBY, unfinished=UNFINISHED),
            Intent.START_REMOTE,
            "Rejected START_REMOTE: requires STANDBY to be finished (still on its way)",
        ),
        (
            Situation(mode=Mode.DAMPING, safety_problem=BAD),
            Intent.LOAD,
            f"Rejected LOAD: {BAD}",
        ),
        (
            Situation(mode=Mode.DAMPING, unconfirmed_impedance=WAITING),
            Intent.LOAD,
            f"Rejected LOAD: {WAITING}",
        ),
    ],
)
def test_refusals_name_what_is_required_and_what_was_found(
    situation: Situation, intent: Intent, reason: str
) -> None:
    assert decide(situation, intent).reason.text == reason


def test_a_request_that_waits_names_what_it_waits_for() -> None:
    young = Situation(
        mode=Mode.DAMPING, unconfirmed_impedance=WAITING, writing_impedance=True, settling=SETTLING
    )
    for intent, lacking in ((Intent.LOAD, WAITING), (Intent.ZERO_TORQUE, SETTLING)):
        code = waits(intent)
        assert code is not None
        reason = Reason.of(code, f"{intent.value} waits: {lacking}", lacking)
        assert decide(young, intent) == Decision(Verdict.WAIT, reason)


def test_only_an_intent_that_can_wait_has_a_code_for_it() -> None:
    waited = {
        intent for situation, intent in CASES if decide(situation, intent).verdict is Verdict.WAIT
    }
    assert waited == {intent for intent in Intent if waits(intent)}


def test_a_sinking_arm_becomes_limp_only_by_force() -> None:
    sinking = Situation(mode=Mode.DAMPING, moving=MOVING)
    refused = decide(sinking, Intent.ZERO_TORQUE)
    assert refused.verdict is Verdict.REFUSE
    assert refused.reason.text.startswith("Rejected ZERO_TORQUE: left_elbow_pitch still moves")
    assert "wait" in refused.reason.text
    assert "'force'" in refused.reason.text
    insisted = decide(sinking, Intent.FORCE_ZERO_TORQUE)
    assert insisted == Decision(Verdict.SWITCH)


def test_a_refusal_after_a_fall_gives_its_cause_and_the_way_out() -> None:
    reason = decide(Situation(mode=Mode.DAMPING, latched_fall=FELL), Intent.LOAD).reason
    assert FELL.text in reason.text
    assert "clear_fault" in reason.text
    assert reason.codes == ("LOAD_REFUSED", "FELL_TO_SAFETY", "SAFETY_SOURCE_SILENT")


def test_an_unfinished_standby_is_reported_as_unfinished() -> None:
    reason = decide(Situation(mode=Mode.STANDBY), Intent.START_REMOTE).reason
    assert "finished" in reason.text


def test_modes_are_numbered_as_in_the_message() -> None:
    assert {mode.name: mode.value for mode in Mode} == {
        "ZERO_TORQUE": 0,
        "DAMPING": 1,
        "STANDBY": 2,
        "LOCOMOTION": 3,
        "REMOTE": 4,
    }


def test_every_mode_has_its_intent_and_quit_has_no_mode() -> None:
    assert set(INTENT_OF_MODE) == set(Mode)
    assert all(MODE_OF_INTENT[INTENT_OF_MODE[mode]] is mode for mode in Mode)
    assert MODE_OF_INTENT[Intent.FORCE_ZERO_TORQUE] is Mode.ZERO_TORQUE
    assert set(Intent) - set(MODE_OF_INTENT) == {Intent.QUIT}
    assert all(MODE_OF_INTENT.get(intent) is row.result for intent, row in TABLE.items())
