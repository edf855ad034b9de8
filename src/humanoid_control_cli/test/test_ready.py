import pytest

from humanoid_control_cli.ready import sentence
from humanoid_control_cli.statements import Statement
from humanoid_control_common.modes import Mode


@pytest.mark.parametrize(
    ("mode", "command"),
    [
        (Mode.ZERO_TORQUE, "hc mode damp"),
        (Mode.DAMPING, "hc mode load"),
        (Mode.STANDBY, "hc status"),
    ],
)
def test_it_says_what_to_type_next(mode: Mode, command: str) -> None:
    said = sentence(Statement(mode, "some_controller", "", 1, 0), 199.7)
    assert said == f"Prime is up: {mode.name}, joint states at 200 Hz; next: {command}"


def test_it_says_why_the_robot_has_fallen() -> None:
    fallen = Statement(Mode.DAMPING, "damping_controller", "Fell to safety: bus off", 2, 0)
    said = sentence(fallen, 50.0)
    assert "DAMPING, joint states at 50 Hz (Fell to safety: bus off)" in said
    assert said.endswith("next: hc status")
