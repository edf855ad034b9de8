"""Reasons are codes; their text is for operators."""

import pytest

from humanoid_control_common.rules.modes import Intent, refused
from humanoid_control_common.rules.reasons import NO_REASON, CodeTable, Reason, joined


@pytest.fixture
def table() -> CodeTable:
    return CodeTable("Test")


def test_a_reason_has_its_own_code_first_then_those_of_its_causes_each_once(
    table: CodeTable,
) -> None:
    fell, hot, slow = (table.add(name, "m", "r") for name in ("FELL", "HOT", "SLOW"))
    causes = Reason.of(slow, "slow", Reason.of(hot, "hot")), Reason.of(hot, "hotter")
    reason = Reason.of(fell, "fell: slow; hotter", *causes)
    assert reason.codes == ("FELL", "SLOW", "HOT")
    assert hot in reason
    assert str(reason) == "fell: slow; hotter"


def test_the_codes_decide_whether_there_is_a_reason(table: CodeTable) -> None:
    hot = Reason.of(table.add("HOT", "m", "r"), "")
    assert hot
    assert not NO_REASON
    assert not Reason("a text without a code")


def test_reasons_are_joined_without_those_that_are_none(table: CodeTable) -> None:
    one, two = (Reason.of(table.add(name, "m", "r"), name.lower()) for name in ("A", "B"))
    assert joined((one, NO_REASON, two)) == Reason("a; b", ("A", "B"))
    assert joined(()) == NO_REASON


def test_a_reason_that_is_given_twice_is_in_the_text_once(table: CodeTable) -> None:
    """A motor's status and its fault report name the same fault."""
    one, two = (Reason.of(table.add(name, "m", "r"), name.lower()) for name in ("A", "B"))
    assert joined((one, two, one)).text == "a; b"


def test_reason_with_another_text_keeps_its_codes(table: CodeTable) -> None:
    reason = Reason.of(table.add("HOT", "m", "r"), "hot")
    assert reason.worded("very warm") == Reason("very warm", ("HOT",))


@pytest.mark.parametrize("name", ["", "hot", "Hot", "HOT_", "HOT WRIST", "1_HOT"])
def test_names_are_upper_snake(table: CodeTable, name: str) -> None:
    with pytest.raises(ValueError, match="expected UPPER_SNAKE"):
        table.add(name, "meaning", "remedy")


def test_a_code_is_defined_once_and_explained(table: CodeTable) -> None:
    table.add("HOT", "meaning", "remedy")
    with pytest.raises(ValueError, match="twice"):
        table.add("HOT", "meaning", "remedy")
    for explanation in (("", "remedy"), ("meaning", "")):
        with pytest.raises(ValueError, match="needs a meaning and a remedy"):
            table.add("COLD", *explanation)


@pytest.mark.parametrize("intent", list(Intent))
def test_every_intent_has_a_code_of_its_refusal(intent: Intent) -> None:
    assert refused(intent).name == f"{intent.value}_REFUSED"
