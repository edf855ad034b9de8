"""Files of actuators: what they give, and what is refused."""

from pathlib import Path

import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_twin.robot.actuators import ActuatorCommands, load_actuators

MOTOR = "{{id: {id}, joint: {joint}, family: sito, model: TA40-50, rotor: 0.01}}"
TWICE = f"can: {{left: [{MOTOR.format(id=7, joint='a')}, {MOTOR.format(id=7, joint='b')}]}}"


def written(folder: Path, text: str) -> Path:
    path = folder / "actuators.yaml"
    path.write_text(text)
    return path


def test_joints_of_the_ring_come_first_and_each_has_its_place(tmp_path):
    motor = MOTOR.format(id=7, joint="b")
    text = (
        f"can: {{left: [{motor}]}}\nring: [{{joint: c, rotor: 0.04}}, {{joint: a, rotor: 0.05}}]\n"
    )
    found = load_actuators(written(tmp_path, text))
    assert found.joints == ("c", "a", "b")
    assert found.rotors == {"c": 0.04, "a": 0.05, "b": 0.01}
    assert ActuatorCommands(found).places() == {
        "c": {"bus": "", "address": 0},
        "a": {"bus": "", "address": 1},
        "b": {"bus": "left", "address": 7},
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "no actuators"),
        ("ring: [{joint: a, rotor: 0.0}]", "ring.0.rotor"),
        ("ring: [{joint: a, rotor: 1.0}, {joint: a, rotor: 1.0}]", "two actuators on a"),
        ("ring: [{joint: a, rotors: 1.0}]", "unknown key 'ring.0.rotors'"),
        (TWICE, "can.left: two motors with id 7"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_is_refused(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        load_actuators(written(tmp_path, text))
