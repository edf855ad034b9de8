"""The values of a description in the simulation, and refused errors."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.mit_interface import Capability
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_controller_manager.hardware_component import HARDWARE_CONTRACT, HardwareComponent
from humanoid_devices_mujoco.mujoco_system import MujocoSystem

TIMESTEP = '<param name="timestep">0.001</param>'
FACTOR = '<param name="real_time_factor">1</param>'


def configure(urdf: str, update_rate: float = 200.0) -> MujocoSystem:
    system = MujocoSystem()
    system.on_configure(parse_robot_description(urdf, update_rate).blocks[0])
    return system


def test_the_model_has_the_descriptions_masses_limits_and_rotors(prime: Any) -> None:
    model, info = prime.system.model, prime.info

    joints = [model.joint(name) for name in info.joint_set.names]
    moving = [float(mass) for mass in re.findall(r'<mass value="([^"]+)"', _arms(info.urdf))]
    assert len(moving) == 16  # two arms of seven links and a hand
    assert model.body_mass.sum() == pytest.approx(sum(moving))
    assert [joint.armature[0] for joint in joints] == [
        float(joint.parameters["rotor_inertia"]) for joint in info.joints
    ]
    assert np.array([joint.range for joint in joints]) == pytest.approx(
        np.array([info.limits.lower, info.limits.upper]).T
    )
    assert model.actuator_forcerange[:, 1] == pytest.approx(info.limits.effort)
    assert model.opt.gravity == pytest.approx([0.0, 0.0, -9.81])


def _arms(urdf: str) -> str:
    """The part of the description behind the torso."""
    return urdf[urdf.index('<link name="left_shoulder_pitch_link"') :]


def test_all_interfaces_act_per_tick_and_the_optional_contracts_are_met(prime: Any) -> None:
    system: HardwareComponent = prime.system

    assert system.capabilities().shape == (5, 14)
    assert (system.capabilities() == Capability.PER_TICK).all()
    assert "time" in HARDWARE_CONTRACT.taken_on(type(system), "")
    assert "reset_faults" in HARDWARE_CONTRACT.taken_on(type(system), "")
    assert system.effort_limit(prime.state.position) == pytest.approx(prime.info.limits.effort)


def test_joints_stand_in_the_order_of_the_block_not_of_the_model(
    simulate: Any, prime_urdf: str
) -> None:
    as_written = parse_robot_description(prime_urdf, 200.0).blocks[0]
    order = np.random.default_rng(1).permutation(14)
    shuffled = replace(
        as_written,
        joints=tuple(as_written.joints[i] for i in order),
        limits=as_written.limits.of(order),
    )
    straight, permuted = simulate(prime_urdf), simulate(prime_urdf)
    permuted.info = shuffled
    permuted.system.on_configure(shuffled)
    for simulation in (straight, permuted):
        simulation.command.array[:] = np.linspace(0.1, 1.0, 5 * 14).reshape(5, 14)
    permuted.command.array[:] = straight.command.array[:, order]

    straight.run(0.2)
    permuted.run(0.2)

    assert np.abs(straight.state.position).min() > 0.0
    assert permuted.state.array == pytest.approx(straight.state.array[:, order], rel=1e-9)


def test_joints_start_at_their_initial_values_at_rest(simulate: Any, one_joint: Any) -> None:
    state = simulate(one_joint(initial=0.7).urdf()).state

    assert state.array[:, 0].tolist() == [0.7, 0.0, 0.0]


def test_a_link_without_inertial_weighs_nothing_whatever_its_shape(one_joint: Any) -> None:
    shape = "<collision><geometry><box size='.1 .1 .1'/></geometry></collision>"
    cover = f"""<link name="cover">{shape}</link>
        <joint name="glue" type="fixed"><parent link="arm"/><child link="cover"/></joint></robot>"""

    system = configure(one_joint().urdf().replace("</robot>", cover))

    assert system.model.body("arm").mass[0] == pytest.approx(1.0)


@pytest.mark.parametrize("factor", [0.0, 0.5, 1.0, 20.0])
def test_the_real_time_factor_is_the_blocks(one_joint: Any, factor: float) -> None:
    block = f'{TIMESTEP}<param name="real_time_factor">{factor}</param>'

    assert configure(one_joint(block=block).urdf()).real_time_factor == factor


BAD_BLOCKS = {
    "no timestep": (FACTOR, "'timestep'> is missing"),
    "no real_time_factor": (TIMESTEP, "'real_time_factor'> is missing"),
    "negative factor": (
        TIMESTEP + '<param name="real_time_factor">-1</param>',
        r"real_time_factor is -1, expected 0 or more",
    ),
    "factor not a number": (
        TIMESTEP + '<param name="real_time_factor">nan</param>',
        "real_time_factor: expected a finite number, found 'nan'",
    ),
    "timestep zero": (
        '<param name="timestep">0</param>' + FACTOR,
        "timestep is 0, expected more than 0",
    ),
    "timestep in words": (
        '<param name="timestep">1 ms</param>' + FACTOR,
        "timestep: expected a finite number, found '1 ms'",
    ),
    "timestep longer than the period": (
        '<param name="timestep">0.01</param>' + FACTOR,
        r"update_rate 200 Hz: 0.005 s\) is 0.5 times timestep 0.01 s",
    ),
    "unknown parameter": (
        TIMESTEP + FACTOR + '<param name="time_step">0.001</param>',
        "unknown parameter time_step; known: timestep, real_time_factor",
    ),
}


@pytest.mark.parametrize(("block", "message"), BAD_BLOCKS.values(), ids=BAD_BLOCKS.keys())
def test_a_wrong_block_parameter_is_refused(one_joint: Any, block: str, message: str) -> None:
    with pytest.raises(ConfigError, match=r"<ros2_control name='Sim'>.*" + message):
        configure(one_joint(block=block).urdf())


@pytest.mark.parametrize("update_rate", [300.0, 1001.0, 400.0])
def test_a_period_that_is_no_multiple_of_the_timestep_is_refused(
    one_joint: Any, update_rate: float
) -> None:
    message = rf"update_rate {update_rate:g} Hz: .* times timestep 0\.001 s"
    with pytest.raises(ConfigError, match=message):
        configure(one_joint().urdf(), update_rate)


@pytest.mark.parametrize("update_rate", [1.0, 50.0, 125.0, 200.0, 500.0, 1000.0])
def test_a_period_that_is_a_multiple_of_the_timestep_is_simulated_exactly(
    simulate: Any, one_joint: Any, update_rate: float
) -> None:
    simulation = simulate(one_joint().urdf(), update_rate)

    simulation.tick()

    assert simulation.system.time == pytest.approx(1.0 / update_rate, rel=1e-12)
    assert simulation.system.data.time == pytest.approx(1.0 / update_rate, rel=1e-9)


BAD_JOINTS = {
    "no rotor inertia": ({"rotor_inertia": ""}, "joint 'hinge': <param name='rotor_inertia'> is"),
    "negative rotor inertia": (
        {"rotor_inertia": "-0.01"},
        r"joint 'hinge': rotor_inertia is -0\.01, expected 0 or more",
    ),
    "rotor inertia in words": (
        {"rotor_inertia": "small"},
        "joint 'hinge': rotor_inertia: expected a finite number, found 'small'",
    ),
    "initial position out of range": (
        {"initial": 3.2},
        r"joint 'hinge' starts at 3\.2 rad .* within its limits, -3 to 3 rad",
    ),
    "slider": ({"kind": "prismatic"}, "joint 'hinge' is prismatic, expected revolute"),
}


@pytest.mark.parametrize(("change", "message"), BAD_JOINTS.values(), ids=BAD_JOINTS.keys())
def test_a_wrong_joint_is_refused(one_joint: Any, change: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=r"<ros2_control name='Sim'>: .*" + message):
        configure(one_joint(**change).urdf())


BAD_TEXTS = {
    "no inertia": (
        r"<inertial>.*</inertial>",
        "",
        "its link 'arm' has no <inertial> with a mass, nor has a link fixed to it",
    ),
    "no mass": (
        '<mass value="1.0"/>',
        '<mass value="0"/>',
        "mass is 0 kg, expected more than 0",
    ),
    "impossible inertia": (
        'ixx="0.01"',
        'ixx="1"',
        "principal inertias are .*: no body has",
    ),
    "unknown link": ('<child link="arm"/>', '<child link="leg"/>', "its child 'leg' is no link"),
    "joint outside the block": (
        "<ros2_control",
        """<link name="tool"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"
        ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="loose" type="continuous">
        <parent link="arm"/><child link="tool"/></joint><ros2_control""",
        "joint 'loose' moves but is not in the block.*; the block has: hinge",
    ),
    "unknown joint parameter": (
        '<param name="rotor_inertia">',
        '<param name="rotor">1</param><param name="rotor_inertia">',
        "joint 'hinge': unknown parameter rotor; known: rotor_inertia",
    ),
}


@pytest.mark.parametrize(("pattern", "text", "message"), BAD_TEXTS.values(), ids=BAD_TEXTS.keys())
def test_a_wrong_description_is_refused(
    one_joint: Any, pattern: str, text: str, message: str
) -> None:
    urdf, count = re.subn(pattern, text, one_joint().urdf(), count=1, flags=re.DOTALL)
    assert count == 1
    with pytest.raises(
        ConfigError, match=r"^(<ros2_control name='Sim'>|link 'arm'|joint 'hinge'): .*" + message
    ):
        configure(urdf)
