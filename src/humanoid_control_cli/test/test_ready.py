import pytest

from humanoid_control_cli.statements import StampedStatement
from humanoid_control_cli.up.wait_until_up import sentence
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY
from humanoid_control_common.rules.reasons import NO_REASON, Reason

FELL = Reason.of(FELL_TO_SAFETY, "Fell to safety: bus off")


@pytest.mark.parametrize(
    ("mode", "command"),
    [
        (Mode.ZERO_TORQUE, "hc mode damp"),
        (Mode.DAMPING, "hc mode load"),
        (Mode.STANDBY, "hc status"),
    ],
)
def test_the_sentence_names_the_next_command(mode: Mode, command: str) -> None:
    text = sentence("Prime", StampedStatement(mode, "some_controller", NO_REASON, 1, 0), 199.7)
    assert text == f"Prime is up: {mode.name}, joint states at 200 Hz; next: {command}"


def test_the_sentence_names_the_reason_of_a_fall() -> None:
    fallen = StampedStatement(Mode.DAMPING, "damping_controller", FELL, 2, 0)
    text = sentence("Prime", fallen, 50.0)
    assert "DAMPING, joint states at 50 Hz (Fell to safety: bus off)" in text
    assert text.endswith("next: hc status")
