"""Two controllers side by side in REMOTE, in the control process: each moves its own arm."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from humanoid_control_msgs.msg import ControlMode, MITCommand
from sensor_msgs.msg import JointState

ARM = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow_pitch")
WRIST = ("wrist_roll", "wrist_pitch", "wrist_yaw")
LEFT = [f"left_{name}" for name in (*ARM, *WRIST)]
RIGHT = [f"right_{name}" for name in ARM]  # the right wrist is held
TYPE = "humanoid_control/RemotePolicyController"
GAINS = {"stiffness": 20.0, "damping": 2.0, "on_stale": "hold", "command_timeout": 0.1}
ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "docs/examples/two_arms.yaml"
PRIMES = ROOT / "src/humanoid_bringup_prime/config/prime_controllers.yaml"


def _write(path: Path, source: Path, joints: dict[str, Any]) -> Path:
    """Controllers with one remote controller for each entry of `joints`; 'all': without a list."""
    content = yaml.safe_load(source.read_text())
    entries = content["controller_manager"]["ros__parameters"]
    waits = entries.pop("trajectory_controller")  # after those with a list
    del entries["remote_policy_controller"], content["remote_policy_controller"]
    for name, claimed in joints.items():
        entries[name] = {"type": TYPE, "fallback_controllers": ["damping_controller"]}
        own: dict[str, Any] = dict(GAINS)
        own |= {} if claimed == "all" else {"joints": claimed}
        content[name] = {"ros__parameters": own}
    entries["trajectory_controller"] = waits
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def _example(path: Path) -> Path:
    """The example, with a quick STANDBY and commands that are never stale."""
    content = yaml.safe_load(EXAMPLE.read_text())
    for pose in content["standby_controller"]["ros__parameters"]["poses"].values():
        pose["duration"] = 0.3
    for side in ("left", "right"):
        content[f"{side}_remote"]["ros__parameters"]["command_timeout"] = 1e6
    path.write_text(yaml.safe_dump(content, sort_keys=False))
    return path


def test_the_example_is_primes_controllers_with_two_arms() -> None:
    example, primes = (yaml.safe_load(it.read_text()) for it in (EXAMPLE, PRIMES))
    manager = "controller_manager"
    own, theirs = (it.pop(manager)["ros__parameters"] for it in (example, primes))
    for side, joints in (("left", LEFT), ("right", RIGHT)):
        assert own.pop(f"{side}_remote") == theirs["remote_policy_controller"]
        assert example.pop(f"{side}_remote")["ros__parameters"]["joints"] == joints
    del theirs["remote_policy_controller"], primes["remote_policy_controller"]
    assert (own, example) == (theirs, primes)


@pytest.fixture
def write(tmp_path: Path, controllers_with: Callable[[Path, float], Path]) -> Callable[..., Path]:
    source = controllers_with(tmp_path, 0.3)
    return lambda joints: _write(tmp_path / "shared.yaml", source, joints)


def _command(names: list[str], position: float) -> MITCommand:
    count = len(names)
    return MITCommand(
        joint_names=names,
        position=[position] * count,
        velocity=[0.0] * count,
        effort=[0.0] * count,
        stiffness=[20.0] * count,
        damping=[2.0] * count,
    )


def test_each_controller_moves_its_own_arm_and_other_joints_are_held(
    start_control: Callable[..., Any], client: Any, tmp_path: Path
) -> None:
    file = _example(tmp_path / "controllers.yaml")
    running = start_control(controllers_file=file)
    client.connect()
    for mode in (ControlMode.DAMPING, ControlMode.STANDBY):
        client.reach(mode)
    client.finish_standby()
    client.reach(ControlMode.REMOTE)
    assert client.now.controller_name == "left_remote+right_remote"
    client.until(lambda: client.commands and client.commands[-1].stiffness[13] == 20.0, "REMOTE")
    names = list(client.joint_states[-1].name)
    held = [names.index(f"right_{name}") for name in WRIST]
    before = np.array(client.commands[-1].position)
    topics = {
        side: client.node.create_publisher(MITCommand, f"/{side}_remote/command", 1)
        for side in ("left", "right")
    }

    def written(joints: list[str], position: float) -> Callable[[], bool]:
        rows = [names.index(name) for name in joints]
        return lambda: bool(
            np.abs(np.array(client.commands[-1].position)[rows] - position).max() < 1e-6
        )

    def sent(side: str, joints: list[str], position: float) -> Callable[[], bool]:
        arrived = written(joints, position)
        return lambda: topics[side].publish(_command(joints, position)) or arrived()

    client.until(sent("left", LEFT, 0.1), "the left arm's target")
    right = [names.index(name) for name in RIGHT]
    now = np.array(client.commands[-1].position)
    assert now[right].tolist() == before[right].tolist()
    client.until(sent("right", RIGHT, -0.1), "the right arm's target")
    last = client.commands[-1]
    assert written(LEFT, 0.1)()
    assert np.array(last.position)[held].tolist() == before[held].tolist()
    assert np.array(last.stiffness)[held].tolist() == [20.0] * 3
    # A command for the whole robot is no command for one arm.
    topics["left"].publish(_command(names, 0.3))
    client.until(lambda: "command refused: joints unknown: right_" in running.text(), "a refusal")
    assert written(LEFT, 0.1)()
    assert isinstance(client.joint_states[-1], JointState)
    assert len(client.joint_states[-1].position) == 14


@pytest.mark.parametrize(
    ("joints", "message"),
    [
        (
            {"a": LEFT, "b": [*RIGHT, "left_elbow_pitch"]},
            "'joints': left_elbow_pitch claimed by both 'a' ({file}:{a}) and 'b' of mode REMOTE",
        ),
        ({"b": "all", "a": LEFT}, "{file}:{a}: 'b' ("),
        ({"a": ["left_ellbow"]}, "{file}:{a}: 'joints' of a: unknown joint left_ellbow; known: "),
    ],
    ids=["twice", "one without before", "unknown"],
)
def test_invalid_joint_claims_are_refused_before_any_motion(
    start_control: Callable[..., Any], write: Callable[..., Path], joints: Any, message: str
) -> None:
    file = write(joints)
    lines = file.read_text().splitlines()
    own = lines.index("a:")
    claim = own + next(
        i for i, line in enumerate(lines[own:], 1) if line.strip().startswith("joints:")
    )
    running = start_control(controllers_file=file)
    assert running.wait() == 1
    assert message.format(file=file, a=claim) in running.text()
