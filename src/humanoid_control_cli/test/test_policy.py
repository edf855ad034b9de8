"""`hc policy` inspects a policy, and loads it into the real control process on mock hardware."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import yaml
from test_support.policies import prime_properties, write_policy
from typer.testing import CliRunner

from humanoid_control_cli.app import app
from humanoid_control_cli.client import Client
from humanoid_control_cli.errors import RefusedError
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_cli.policy.parameters import write_parameters
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_policy.errors import PolicyRefusedError

if TYPE_CHECKING:
    from src.humanoid_control_cli.test.conftest import Starter

TIMEOUT = 30.0  # [s]; a dead-man's switch
TAUGHT = """robot: prime
recorded: 'a day'
limits: {velocity: 2, acceleration: 3.5}
joints: [left_elbow_pitch, right_elbow_pitch]
points:
  - {time: 0.5, positions: [-0.5, -0.6]}
  - {time: 2.0, positions: [-0.8, -0.9]}
"""
MOTION = "joints: [left_elbow_pitch]\ntimes: [1.0, 2.0]\npositions: [-0.8, -0.5]\n"


@pytest.fixture(scope="module")
def robot(
    start_once: Starter, quick_controllers: Path, tmp_path_factory: pytest.TempPathFactory
) -> Starter:
    """Prime up, without a policy."""
    content = yaml.safe_load(quick_controllers.read_text())
    for section in (content, content["controller_manager"]["ros__parameters"]):
        section.pop("rl_policy_controller", None)
    file = tmp_path_factory.mktemp("policy") / "controllers.yaml"
    file.write_text(yaml.safe_dump(content, sort_keys=False))
    start_once.bring_up("mock", file)
    return start_once


def test_a_policy_is_inspected(tmp_path: Path) -> None:
    file = write_policy(tmp_path / "policy.onnx", prime_properties(observation_scales="1,0.1,1"))
    result = CliRunner().invoke(app, ["policy", "inspect", str(file)])
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[0] == "task test: 42 values observed, 14 targets every 0.02 s"
    assert lines[2].split() == ["joint", "stiffness", "damping", "default", "action", "scale"]
    assert lines[3].split() == ["left_shoulder_pitch", "20", "2", "-0.15", "0", "0.5"]
    assert "joint_vel  14-27   0.1    measured velocity [rad/s]" in lines
    assert lines[-1].startswith("observation and inference: median ")
    assert lines[-1].endswith("allowed 20000 µs")


def test_a_wrong_policy_is_refused_by_file_and_key(tmp_path: Path) -> None:
    properties = prime_properties()
    file = write_policy(tmp_path / "policy.onnx", properties)
    file.write_bytes(file.read_bytes().replace(b"policy_period", b"policy_perior"))
    with pytest.raises(PolicyRefusedError, match=r"policy.onnx: metadata keys unknown: 'policy_p"):
        CliRunner().invoke(app, ["policy", "inspect", str(file)], catch_exceptions=False)


def test_a_policy_is_loaded_started_and_replaced(
    robot: Starter, client: Client, tmp_path: Path
) -> None:
    modes = ModeClient(client)
    modes.request(Intent.DAMP)
    modes.wait_for_ready_pose(modes.request(Intent.LOAD))
    with pytest.raises(RefusedError, match="no policy loaded: `hc policy load FILE`"):
        modes.request(Intent.START_LOCOMOTION)

    bias = np.zeros(14)
    bias[3] = -0.6  # the left elbow: -0.5 - 0.3 rad
    first = write_policy(tmp_path / "first.onnx", prime_properties(), bias)
    code, text = robot.ask_anew("policy", "load", str(first))
    assert (code, text) == (
        0,
        "'rl_policy_controller' is loaded: LOCOMOTION is rl_policy_controller\n"
        "next: in a finished STANDBY: hc mode locomotion",
    )
    assert modes.request(Intent.START_LOCOMOTION).mode is Mode.LOCOMOTION
    positions: list[float] = []
    from sensor_msgs.msg import JointState

    name = "left_elbow_pitch"
    client.subscribe(
        JointState,
        "prime/joint_states",
        lambda it: positions.append(it.position[list(it.name).index(name)]),
    )
    assert client.wait(lambda: positions and abs(positions[-1] + 0.8) < 1e-3, TIMEOUT)

    second = write_policy(tmp_path / "second.onnx", prime_properties(), -bias)
    code, text = robot.ask("policy", "load", str(second))
    assert code == 1
    assert "LOCOMOTION is in force, or about to be: leave it before" in text
    modes.request(Intent.DAMP)
    assert robot.ask("policy", "load", str(second))[0] == 0
    modes.wait_for_ready_pose(modes.request(Intent.LOAD))
    assert modes.request(Intent.START_LOCOMOTION).mode is Mode.LOCOMOTION
    assert client.wait(lambda: abs(positions[-1] + 0.2) < 1e-3, TIMEOUT)
    modes.request(Intent.DAMP)


def test_a_policy_that_follows_a_motion_is_loaded_with_its_waypoints(
    robot: Starter, tmp_path: Path
) -> None:
    properties = prime_properties(action_kind="residuals", observation_names="phase")
    file = write_policy(tmp_path / "policy.onnx", properties)
    before = robot.temporary_files("hc_policy_*")
    code, text = robot.ask("policy", "load", str(file))
    assert code == 1
    assert robot.temporary_files("hc_policy_*") == before
    assert text.startswith(f"hc: {file}: motion: is missing; the model needs it for phase, action")
    motion = tmp_path / "motion.yaml"
    motion.write_text(MOTION.replace("times", "time"))
    code, text = robot.ask("policy", "load", str(file), "--motion", str(motion))
    assert code == 1
    assert f"{motion}:2: unknown key 'time'" in text
    motion.write_text(MOTION.replace("left_elbow_pitch", "knee"))
    code, text = robot.ask("policy", "load", str(file), "--motion", str(motion))
    assert code == 1
    assert text.startswith(
        f"hc: --motion {motion}: {file}: motion: unknown joint knee; known: left_"
    )
    motion.write_text(MOTION)
    assert robot.ask("policy", "load", str(file), "--motion", str(motion))[0] == 0


def test_a_taught_motion_is_one_that_a_policy_can_follow(tmp_path: Path) -> None:
    file = write_policy(tmp_path / "policy.onnx", prime_properties())
    taught = tmp_path / "wave" / "motion.yaml"
    taught.parent.mkdir()
    taught.write_text(TAUGHT)
    for motion in (taught, taught.parent):
        written = yaml.safe_load(write_parameters(file, motion).read_text())
        assert written["rl_policy_controller"]["ros__parameters"]["motion"] == {
            "joints": ["left_elbow_pitch", "right_elbow_pitch"],
            "times": [0.0, 1.5],
            "positions": [-0.5, -0.6, -0.8, -0.9],
        }
    taught.write_text(TAUGHT.replace("time: 2.0", "time: 0.1"))
    with pytest.raises(
        ConfigError, match=r"motion.yaml:7: points\[1\]: time 0.1 s, expected 0.501"
    ):
        write_parameters(file, taught)
