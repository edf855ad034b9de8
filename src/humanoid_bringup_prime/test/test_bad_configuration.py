"""Wrong files and descriptions: a sentence with the place, exit code 1, and no motion."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from ament_index_python.packages import get_package_share_directory
from test_support.programs.prepared_programs import PreparedPrograms
from test_support.programs.started_process import StartedProcess, ended_at_last
from test_support.ros.ros_domains import reserved_domain

from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import plan
from humanoid_control_common.errors import ConfigError

CONFIG = Path(get_package_share_directory("humanoid_bringup_prime")) / "config"


@pytest.fixture
def refused(
    prepared: PreparedPrograms, prepare_control: Callable[..., list[str]], tmp_path: Path
) -> Iterator[Callable[..., str]]:
    """Starts a control process that must end with exit code 1; returns its output."""
    with reserved_domain() as domain, ended_at_last() as started:

        def run(**options: Any) -> str:
            command, log = prepare_control(tmp_path, **options), tmp_path / "output.txt"
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("ROS_DOMAIN_ID", str(domain))
                started.append(StartedProcess(command, log, prepared))
            assert started[-1].wait() == 1, started[-1].text()
            return started[-1].text()

        yield run


def _changed(folder: Path, old: str, new: str) -> Path:
    """Return prime_controllers.yaml with `old`, which must occur, replaced."""
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
    "no rate": ("update_rate: 50", "update_rate: 0", r"yaml:5: 'update_rate': Input should be gr"),
    "not YAML": ("update_rate: 50", "update_rate: [50", r"controllers\.yaml:\d+: not valid YAML"),
    "no parameters": (
        "damping_controller:\n  ros__parameters:\n    damping: 6.0",
        "damping_controller:\n    damping: 6.0",
        r"controllers\.yaml:\d+: 'damping_controller' has no ros__parameters mapping",
    ),
    "bad topic": (
        "prime/joint_states",
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
        r"'damping': .*greater than 0",
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
def test_wrong_controllers_are_refused_with_place_and_cause(refused, tmp_path, old, new, message):
    path = _changed(tmp_path, old, new)
    try:
        text = refused(controllers_file=path)
    except ConfigError as error:
        text = str(error)  # detected before the first start
    assert re.search(message, text), text
    assert "Traceback" not in text


WRONG_DESCRIPTIONS = {
    "not XML": ("<robot ", "<robot <", r"robot description:\d+: not valid XML"),
    "missing interface": (
        '<command_interface name="stiffness">',
        '<command_interface name="position">',
        r"'PrimeMock'>: <joint name='left_shoulder_pitch'>: two <command_interface> 'position'",
    ),
    "unknown joint": (
        "<hardware>",
        '<joint name="tail"/><hardware>',
        r"<ros2_control name='PrimeMock'>: unknown joint 'tail'; the URDF has: .*left_elbow_pitch",
    ),
    "joint twice": (
        "<hardware>",
        '<joint name="left_elbow_pitch"/><hardware>',
        r"<ros2_control name='PrimeMock'>: two <joint> 'left_elbow_pitch', expected one",
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
def test_wrong_descriptions_are_refused_with_place_and_cause(refused, old, new, message):
    def edit(description: str) -> str:
        assert old in description
        return description.replace(old, new, 1)

    text = refused(edit_description=edit)
    assert re.search(message, text), text
    assert "Traceback" not in text


@pytest.mark.parametrize("factor", [-1.0, float("nan"), float("inf")], ids=str)
def test_a_real_time_factor_that_makes_no_sense_is_refused(factor):
    with pytest.raises(ConfigError, match="real-time factor"):
        Options(backend=Backend.MUJOCO, real_time_factor=factor)


def test_a_missing_controllers_file_is_named(tmp_path):
    missing = tmp_path / "nowhere.yaml"
    with pytest.raises(ConfigError, match=f"{missing}: cannot be read"):
        plan(Options(backend=Backend.MOCK, controllers_file=missing), tmp_path)


def test_the_ring_s_frequency_is_the_update_rate(tmp_path):
    """control_frequency is update_rate by construction: no other place sets it."""
    path = _changed(tmp_path, "update_rate: 50", "update_rate: 125")
    options = Options(backend=Backend.REAL, backends="ec", controllers_file=path)
    plan(options, tmp_path)
    content = yaml.safe_load((tmp_path / "controller_manager.bring_up.yaml").read_text())
    parameters = content["controller_manager"]["ros__parameters"]
    assert parameters["update_rate"] == 125
    assert '<param name="control_frequency">125</param>' in parameters["robot_description"]
