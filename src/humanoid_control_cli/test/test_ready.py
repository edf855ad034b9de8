import pytest

from humanoid_control_cli.mode_status import ModeStatus
from humanoid_control_cli.up.wait_until_up import sentence
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
    said = sentence("Prime", ModeStatus(mode, "some_controller", "", 1, 0), 199.7)
    assert said == f"Prime is up: {mode.name}, joint states at 200 Hz; next: {command}"


def test_it_says_why_the_robot_has_fallen() -> None:
    fallen = ModeStatus(Mode.DAMPING, "damping_controller", "Fell to safety: bus off", 2, 0)
    said = sentence("Prime", fallen, 50.0)
    assert "DAMPING, joint states at 50 Hz (Fell to safety: bus off)" in said
    assert said.endswith("next: hc status")
