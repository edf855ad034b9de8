"""One MuJoCo model behind all drives: effects of torques, brakes and limits."""

from pathlib import Path

import numpy as np
import pytest
from test_support.twin.prime_actuators import JOINTS, ROTORS

from humanoid_control_common.configuration.config import read_yaml
from humanoid_control_common.errors import ConfigError
from humanoid_twin.physics.mujoco_plant import MujocoPlant, build_model, moving_links
from humanoid_twin.physics.plant import Plant

INERTIA = 0.06  # [kg m²] of either arm about its axis: 0.01 + 1 kg · (0.2 m)² + rotor 0.01
WEIGHT = 1.0 * 9.81 * 0.2  # [Nm] of an arm that is level
SWING, LEVEL = 0, 1
PRIME = Path(__file__).resolve().parents[3] / "prime_description/robots/prime_dummy"
JOINTS_FILE = PRIME / "config/prime_joints.yaml"


def run(plant: Plant, steps: int) -> None:
    for _ in range(steps):
        plant.step(0.001)


def test_torque_of_a_drive_accelerates_the_inertia_of_limb_and_rotor(arms):
    arms.torque[LEVEL] = 0.3
    run(arms, 100)
    assert arms.velocity[LEVEL] == pytest.approx(0.3 / INERTIA * 0.1, rel=1e-6)
    assert arms.torque[LEVEL] == 0.3


def test_torques_of_drive_and_world_add_up_and_hold_until_set_again(arms):
    arms.torque[LEVEL] = 0.5
    arms.set_external_torque(LEVEL, -0.5)
    run(arms, 50)
    assert arms.velocity[LEVEL] == 0.0
    arms.torque[LEVEL] = 0.0
    run(arms, 100)
    assert arms.velocity[LEVEL] == pytest.approx(-0.5 / INERTIA * 0.1, rel=1e-6)
    assert arms.torque[LEVEL] == 0.0


def test_gravity_accelerates_only_links_on_a_level_axis(arms):
    arms.step(0.001)
    assert arms.velocity[SWING] == pytest.approx(WEIGHT / INERTIA * 0.001, rel=1e-6)
    assert arms.velocity[LEVEL] == 0.0


def test_the_torque_that_balances_gravity_keeps_an_arm_where_it_is(arms):
    arms.torque[SWING] = -WEIGHT
    run(arms, 100)
    assert arms.position[SWING] == pytest.approx(0.0, abs=1e-9)


def test_a_joint_is_where_it_is_put_and_goes_on_from_there(arms):
    arms.set_state(LEVEL, 1.0, -2.0)
    assert (arms.position[LEVEL], arms.velocity[LEVEL]) == (1.0, -2.0)
    run(arms, 100)
    assert arms.position[LEVEL] == pytest.approx(0.8)
    assert arms.velocity[LEVEL] == pytest.approx(-2.0)


def test_plant_keeps_the_same_arrays(arms):
    before = arms.position, arms.velocity, arms.torque
    arms.torque[LEVEL] = 1.0
    run(arms, 3)
    assert before[0] is arms.position
    assert before[1] is arms.velocity
    assert before[2] is arms.torque
    assert before[1][LEVEL] > 0


def test_a_stop_gives_way_by_a_milliradian_under_the_torque_of_a_drive(prime):
    for joint in range(len(JOINTS)):
        prime.torque[joint] = 9.0
    run(prime, 3000)
    joints = [prime.model.joint(name) for name in JOINTS]
    beyond = prime.position - [joint.range[1] for joint in joints]
    # Arms that touch each other or the torso do not reach their stops; the others stay at them.
    reached = beyond > -0.01
    assert reached.sum() >= 8
    assert beyond.max() < 1e-3
    assert abs(prime.velocity[reached]).max() < 1e-3


def test_a_brake_holds_where_it_was_engaged_and_releases(arms):
    arms.set_state(LEVEL, 0.7, 0.0)
    arms.set_brake(LEVEL, engaged=True)
    arms.torque[LEVEL] = 20.0
    run(arms, 500)
    assert arms.position[LEVEL] == pytest.approx(0.7, abs=2e-3)
    arms.set_brake(LEVEL, engaged=False)
    run(arms, 10)
    assert arms.velocity[LEVEL] > 1.0


def test_prime_hangs_at_rest(prime):
    run(prime, 1000)
    assert prime.position == pytest.approx(0.0, abs=0.02)
    assert prime.velocity == pytest.approx(0.0, abs=0.02)


def test_arms_are_coupled(prime):
    """A torque at the shoulder moves the elbow; single inertias do not show this."""
    prime.torque[JOINTS.index("left_shoulder_pitch")] = -5.0
    run(prime, 100)
    assert abs(prime.velocity[JOINTS.index("left_elbow_pitch")]) > 0.1
    right = [index for index, name in enumerate(JOINTS) if name.startswith("right")]
    assert prime.velocity[right] == pytest.approx(0.0, abs=0.01)


def test_a_step_is_a_millisecond_and_nothing_else(arms):
    with pytest.raises(ValueError, match="time step"):
        arms.step(0.002)


ODD = "<mujoco><compiler angle='odd'/></mujoco>"


def refusals(urdf):
    good = ["swing", "level"]
    return [
        ("<robot", good, "not valid XML"),
        ("<robot name='x'><link name='a'/><link name='a'/></robot>", good, "'a' occurs twice"),
        (f"<robot>{ODD}<link name='a'/></robot>", good, "MuJoCo says"),
        (urdf(), ["swing"], "no drive is on joint 'level', which moves"),
        (urdf(), [*good, "tail"], "a drive is on 'tail', no joint that moves"),
    ]


def test_a_urdf_that_will_not_do_is_refused_with_the_reason(two_arms_urdf):
    for urdf, joints, why in refusals(two_arms_urdf):
        with pytest.raises(ConfigError, match=why):
            MujocoPlant(urdf, dict.fromkeys(joints, 0.01))


def test_links_fixed_to_each_other_are_one_body(two_arms_urdf):
    assert moving_links(two_arms_urdf()) == {
        "plate": "plate", "pendulum": "pendulum", "hand": "pendulum",
    }  # fmt: skip


def test_every_moving_link_of_prime_is_a_body(prime_urdf):
    model = build_model(prime_urdf, ROTORS)
    assert {model.body(body).id for body in moving_links(prime_urdf).values()} == set(range(1, 15))


def test_the_rotors_are_those_that_the_description_assumes(prime_urdf):
    """The two sources are separate on purpose, and describe one robot."""
    assumed = read_yaml(JOINTS_FILE).content
    model = build_model(prime_urdf, ROTORS)
    for name in JOINTS:
        rotor = float(model.dof_armature[model.joint(name).dofadr[0]])
        assert rotor == assumed[name.split("_", 1)[1]]["rotor_inertia"]


def test_steps_repeat_exactly(prime_urdf):
    def end() -> np.ndarray:
        plant = MujocoPlant(prime_urdf, ROTORS)
        plant.torque[0] = -4.0
        run(plant, 300)
        return plant.position.copy()

    assert (end() == end()).all()
