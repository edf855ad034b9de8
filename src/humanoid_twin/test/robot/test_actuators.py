"""Files of actuators: their values, and refusals."""

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
    assert ActuatorCommands(found).bus_addresses() == {
        "c": {"bus": "", "address": 0},
        "a": {"bus": "", "address": 1},
        "b": {"bus": "left", "address": 7},
    }


ONE = "can:\n  left:\n  - {id: 7, joint: a, family: sito, model: TA40-50, rotor: 0.01}\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "no actuators"),
        ("ring: [{joint: a, rotor: 0.0}]", "ring.0.rotor"),
        ("ring: [{joint: a, rotor: 1.0}, {joint: a, rotor: 1.0}]", "two actuators on a"),
        ("ring: [{joint: a, rotors: 1.0}]", "unknown key 'ring.0.rotors'"),
        ("ring: [{joint: a, rotor: 1.0, serial_number: -1}]", "ring.0.serial_number"),
        ("ring: [{joint: a, rotor: 1.0, gear: 0.0}]", "ring.0.gear"),
        ("ring: [{joint: a, rotor: 1.0, torque_constant: -1.0}]", "ring.0.torque_constant"),
        (TWICE, "can.left: two motors with id 7"),
        (ONE.replace("id: 7", "id: 256"), r"actuators.yaml:3: a: CAN id 256, expected 1 to 255"),
        (ONE.replace("sito", "sita"), r"actuators.yaml:3: a: no motor family 'sita', there are"),
        (ONE.replace("-50", "-51"), r"actuators.yaml:3: a: sito has no model 'TA40-51'"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_is_refused(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message):
        load_actuators(written(tmp_path, text))


FRICTION = """ring: [{joint: a, rotor: 0.04}, {joint: b, rotor: 0.04}]
friction:
  JOINT:
    forward: [[-1.0, 0.1], [1.0, 0.3]]
    backward:
    - [-1.0, -0.3]
    - [1.0, -0.1]
"""


def test_friction_of_a_joint_is_read_with_its_optional_parts(tmp_path):
    text = FRICTION.replace("JOINT", "b")
    text += "    stribeck: {coulomb: 0.5, speed: 0.02}\n    viscous: 0.01\n"
    found = load_actuators(written(tmp_path, text)).frictions
    assert set(found) == {"b"}
    it = found["b"]
    assert (it.coulomb, it.stribeck_speed, it.viscous) == (0.5, 0.02, 0.01)
    assert it.dry(0.0, 0.0, forward=True) == pytest.approx(0.2)
    assert it.dry(0.5, 0.0, forward=False) == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("JOINT", "c", r"actuators.yaml:3: friction: no joint 'c', there are a, b"),
        ("- [1.0, -0.1]", "- [1.0, 0.1]", r"yaml:7: friction of b, backward: point 1: torque 0.1"),
        ("- [1.0, -0.1]", "- [1.0]", r"yaml:7: 'friction.b.backward.1'"),
        ("    - [1.0, -0.1]\n", "", r"yaml:5: friction of b, backward: 1 points"),
        ("    forward", "    sideways", r"unknown key 'friction.b.sideways'"),
    ],
)  # fmt: skip
def test_friction_that_cannot_be_is_refused_with_joint_and_point(tmp_path, before, after, message):
    text = FRICTION.replace(before, after).replace("JOINT", "b")
    with pytest.raises(ConfigError, match=message):
        load_actuators(written(tmp_path, text))


BOARD = """{motor_inertia: 1.0e-5, motor_damping: 0.02, motor_torque: 1.0, tendon_stiffness: 20.0,
      tendon_damping: 0.02, force_p: 2.0, force_i: 300.0}"""
TENDON = f"""can:
  left:
  - {{id: 7, joint: a, family: robstride, model: rs-05, rotor: 0.01, board: {BOARD}}}
  - {{id: 8, joint: b, family: robstride, model: rs-05, rotor: 0.01, tendon_of: a}}
springs:
  b: {{stiffness: 0.1, rest: 0.0}}
"""


def test_a_tendon_over_two_joints_is_read(tmp_path):
    found = load_actuators(written(tmp_path, TENDON))
    first, second = found.can["left"]
    assert first.board.tendon_stiffness == 20.0
    assert second.tendon_of == "a"
    assert found.springs["b"].stiffness == 0.1


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("tendon_of: a", "tendon_of: c", "yaml:5: b: tendon of 'c', boards of this bus are on a"),
        ("tendon_of: a", f"tendon_of: a, board: {BOARD}", "yaml:5: b: 'board' and 'tendon_of'"),
        ("b, family: robstride", "b, family: sito", "yaml:5: b: a board of family 'sito'"),
        ("  b: {stiffness", "  c: {stiffness", "yaml:7: springs: no joint 'c'"),
        ("motor_inertia: 1.0e-5", "motor_inertia: 0.0", "board.motor_inertia"),
    ],
)  # fmt: skip
def test_a_tendon_that_cannot_be_is_refused(tmp_path, before, after, message):
    with pytest.raises(ConfigError, match=message):
        load_actuators(written(tmp_path, TENDON.replace(before, after)))
