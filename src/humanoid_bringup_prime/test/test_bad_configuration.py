"""Wrong files and descriptions: a clear sentence with the place, exit code 1, and nothing moves."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml
from ament_index_python.packages import get_package_share_directory

from humanoid_bringup_prime.bringup import plan
from humanoid_bringup_prime.options import Backend, Backends, Options
from humanoid_control_common.errors import ConfigError

CONFIG = Path(get_package_share_directory("humanoid_bringup_prime")) / "config"


def _changed(folder: Path, old: str, new: str) -> Path:
    """prime_controllers.yaml with `old` replaced, which must be there."""
    text = (CONFIG / "prime_controllers.yaml").read_text()
    assert old in text
    path = folder / "controllers.yaml"
    path.write_text(text.replace(old, new, 1))
    return path


WRONG_CONTROLLERS = {
    "unknown plugin": (
        "humanoid_control/DampingController",
        "humanoid_control/DampnigController",
        r"controller 'damping_controller': unknown plugin 'humanoid_control/DampnigController'; "
        r"known: humanoid_control/DampingController, .*joint_state_broadcaster",
    ),
    "not YAML": ("update_rate: 50", "update_rate: [50", r"controllers\.yaml:\d+: not valid YAML"),
    "no parameters": (
        "damping_controller:\n  ros__parameters:\n    damping: 6.0",
        "damping_controller:\n    damping: 6.0",
        r"controllers\.yaml:\d+: 'damping_controller' has no ros__parameters mapping",
    ),
    "bad topic": (
        "/prime/joint_states",
        "/pri me//x",
        r"[Ii]nvalid topic name",
    ),
    "wrong type": (
        "damping: 6.0",
        "damping: six",
        r"damping_controller: .*controllers\.yaml:\d+: 'damping': .*number \(found 'six'\)",
    ),
    "unknown key": (
        "command_timeout: 0.1",
        "comand_timeout: 0.1",
        r"remote_policy_controller: .*controllers\.yaml:\d+: 'command_timeout' is missing"
        r"(.|\n)*controllers\.yaml:\d+: unknown key 'comand_timeout'",
    ),
    "negative damping": (
        "damping: 6.0",
        "damping: -6.0",
        r"'damping': .*greater than or equal to 0",
    ),
    "no type": (
        "type: humanoid_control/StandbyController",
        "kind: humanoid_control/StandbyController",
        r"controllers\.yaml:\d+: 'controllers\.standby_controller\.type' is missing",
    ),
    "pose of the wrong size": (
        "-0.50, 0.0, 0.0, 0.0]",
        "-0.50, 0.0, 0.0]",
        r"standby_controller: poses\.ready\.positions has 13 values, expected one for each of",
    ),
    "pose outside the limits": (
        "[-0.15,  0.12",
        "[-0.15,  2.90",
        r"poses\.ready\.positions outside the joint limits: left_shoulder_roll 2\.9 rad, allowed",
    ),
    "unknown pose": (
        "sequence: [clear, ready]",
        "sequence: [clear, raedy]",
        r"sequence: unknown pose 'raedy'; known: clear, ready",
    ),
    "unknown fallback": (
        "fallback_controllers: [zero_torque_controller]",
        "fallback_controllers: [zero_controller]",
        r"damping_controller\.fallback_controllers: unknown controller 'zero_controller'; known: ",
    ),
    "stiff fallback": (
        "safe_controllers: [damping_controller, zero_torque_controller]",
        "safe_controllers: [standby_controller]",
        r"safe_controllers: 'standby_controller' is STANDBY, expected a safe mode",
    ),
}


@pytest.mark.parametrize(
    ("old", "new", "message"), WRONG_CONTROLLERS.values(), ids=WRONG_CONTROLLERS
)
def test_wrong_controllers_are_refused_with_place_and_cause(
    start_control, tmp_path, old, new, message
):
    path = _changed(tmp_path, old, new)
    try:
        running = start_control(controllers_file=path)
    except ConfigError as error:
        text = str(error)  # noticed before anything was started
    else:
        assert running.wait() == 1
        text = running.text()
    assert re.search(message, text), text
    assert "Traceback" not in text


WRONG_DESCRIPTIONS = {
    "not XML": ("<robot ", "<robot <", r"robot description:\d+: not valid XML"),
    "missing interface": (
        '<command_interface name="stiffness">',
        '<command_interface name="position">',
        r"<ros2_control name='PrimeMock'>: joint 'left_shoulder_pitch': <command_interface>",
    ),
    "unknown joint": (
        "<hardware>",
        '<joint name="tail"/><hardware>',
        r"<ros2_control name='PrimeMock'>: unknown joint 'tail'; the URDF has: .*left_elbow_pitch",
    ),
    "joint twice": (
        "<hardware>",
        '<joint name="left_elbow_pitch"/><hardware>',
        r"joint 'left_elbow_pitch' is in <ros2_control name='PrimeMock'> and again in 'PrimeMock'",
    ),
    "unknown hardware": (
        "mock_components/GenericSystem",
        "mock_components/Generic",
        r"unknown plugin 'mock_components/Generic'; known: .*mock_components/GenericSystem",
    ),
}


@pytest.mark.parametrize(
    ("old", "new", "message"), WRONG_DESCRIPTIONS.values(), ids=WRONG_DESCRIPTIONS
)
def test_wrong_descriptions_are_refused_with_place_and_cause(start_control, old, new, message):
    def edit(description: str) -> str:
        assert old in description
        return description.replace(old, new, 1)

    running = start_control(edit_description=edit)
    assert running.wait() == 1
    assert re.search(message, running.text()), running.text()
    assert "Traceback" not in running.text()


@pytest.mark.parametrize("factor", [-1.0, float("nan"), float("inf")], ids=str)
def test_a_real_time_factor_that_makes_no_sense_is_refused(factor):
    with pytest.raises(ConfigError, match="real-time factor"):
        Options(backend=Backend.MUJOCO, real_time_factor=factor)


def test_a_missing_controllers_file_is_named(tmp_path):
    missing = tmp_path / "nowhere.yaml"
    with pytest.raises(ConfigError, match=f"{missing}: cannot be read"):
        plan(Options(backend=Backend.MOCK, controllers_file=missing), tmp_path)


def test_the_ring_s_frequency_is_the_update_rate(tmp_path):
    """control_frequency ≡ update_rate by construction: there is no second place to set it."""
    path = _changed(tmp_path, "update_rate: 50", "update_rate: 125")
    options = Options(backend=Backend.REAL, backends=Backends.EC, controllers_file=path)
    plan(options, tmp_path)
    content = yaml.safe_load((tmp_path / "controller_manager.yaml").read_text())
    parameters = content["controller_manager"]["ros__parameters"]
    assert parameters["update_rate"] == 125
    assert '<param name="control_frequency">125</param>' in parameters["robot_description"]
