"""Models: loaded with their metadata, or refused with a sentence that names the file."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_support.policies import policy_model, write_policy

from humanoid_policy.errors import PolicyRefusedError
from humanoid_policy.model import PolicyModel, load_policy, policy_file


def test_the_action_is_that_of_the_model(properties: dict[str, str]) -> None:
    weights = np.arange(16.0).reshape(8, 2)
    model = PolicyModel(policy_model(properties, weights, np.array([1.0, -1.0])), "policy.onnx")
    observation = np.linspace(-1.0, 1.0, 8, dtype=np.float32)
    action = model.infer(observation)
    assert action.dtype == np.float64
    assert action == pytest.approx(observation @ weights + [1.0, -1.0])


LOADS = """
import sys
from humanoid_policy.model import load_policy
load_policy(sys.argv[1])
"""


def test_no_report_is_kept_or_sent_about_the_use_of_policies(
    properties: dict[str, str], tmp_path: Path
) -> None:
    file, home = write_policy(tmp_path / "policy.onnx", properties), tmp_path / "home"
    home.mkdir()
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("ORT_", "XDG_"))}
    environment = inherited | {"HOME": str(home)}
    subprocess.run([sys.executable, "-c", LOADS, file], env=environment, check=True)
    assert list(home.rglob("*")) == []


def test_a_file_is_loaded(properties: dict[str, str], tmp_path: Path) -> None:
    model = load_policy(str(write_policy(tmp_path / "policy.onnx", properties)))
    assert model.metadata.to_strings() == properties
    assert model.observation.size == 8


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no ONNX model that runs"),
        (b"task: reach", "no ONNX model that runs"),
        (b"\x08\x0a" * 1000, "no ONNX model that runs"),
    ],
)
def test_a_file_that_is_no_model_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    file = tmp_path / "policy.onnx"
    file.write_bytes(content)
    with pytest.raises(PolicyRefusedError, match=f"{file}: {words}"):
        load_policy(str(file))


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyRefusedError, match=r"none.onnx: cannot be read: No such file"):
        load_policy(str(tmp_path / "none.onnx"))
    with pytest.raises(PolicyRefusedError, match="cannot be read: Is a directory"):
        load_policy(str(tmp_path))


def test_a_device_is_refused_unread() -> None:
    with pytest.raises(PolicyRefusedError, match="/dev/zero: no regular file"):
        load_policy("/dev/zero")


def test_a_file_that_would_hold_up_the_control_loop_is_refused_unread(tmp_path: Path) -> None:
    """A model of 197 MB held up a loop by 0.1 s and more: the watchdogs of the drives act then."""
    file = tmp_path / "policy.onnx"
    with file.open("wb") as content:
        content.truncate(20 << 20)
    with pytest.raises(PolicyRefusedError, match=f"{file}: larger than"):
        load_policy(str(file))


def test_a_path_must_be_absolute_or_in_a_package() -> None:
    with pytest.raises(PolicyRefusedError, match=r"model 'a/b.onnx': expected an absolute path"):
        policy_file("a/b.onnx")
    with pytest.raises(PolicyRefusedError, match="the package 'not_there' is not installed"):
        policy_file("package://not_there/policy.onnx")
    with pytest.raises(PolicyRefusedError, match="the package '' is not installed"):
        policy_file("package://")
    found = policy_file("package://humanoid_policy/policies/a.onnx")
    assert found.as_posix().endswith("share/humanoid_policy/policies/a.onnx")


def test_an_input_of_another_size_is_refused(properties: dict[str, str]) -> None:
    content = policy_model(properties, size=9)
    with pytest.raises(PolicyRefusedError) as refused:
        PolicyModel(content, "policy.onnx")
    assert str(refused.value) == (
        "policy.onnx: input 'observation': found tensor(float) [1, 9], "
        "expected tensor(float) [1, 8]"
    )


def test_an_output_of_another_size_is_refused(properties: dict[str, str]) -> None:
    import onnx

    model = onnx.load_from_string(policy_model(properties))
    (names,) = (it for it in model.metadata_props if it.key == "action_joint_names")
    names.value = "wrist,shoulder,elbow"
    (terms,) = (it for it in model.metadata_props if it.key == "observation_names")
    terms.value = "joint_pos,joint_vel"
    (scales,) = (it for it in model.metadata_props if it.key == "observation_scales")
    scales.value = "1,1"
    with pytest.raises(
        PolicyRefusedError, match=r"input 'observation': found .*\[1, 8\], expected"
    ):
        PolicyModel(model.SerializeToString(), "policy.onnx")
    terms.value, scales.value = "joint_pos,joint_vel,phase,actions", "1,1,1,1"
    with pytest.raises(PolicyRefusedError, match=r"expected tensor\(float\) \[1, 10\]"):
        PolicyModel(model.SerializeToString(), "policy.onnx")
    terms.value, scales.value = "joint_pos,joint_vel,actions", "1,1,1"
    names.value = "wrist"
    with pytest.raises(PolicyRefusedError, match=r"\[1, 8\], expected tensor\(float\) \[1, 7\]"):
        PolicyModel(model.SerializeToString(), "policy.onnx")


def test_an_output_whose_size_follows_the_observation_is_no_action(
    properties: dict[str, str],
) -> None:
    """Without the second value the first one would count for every joint."""
    import onnx

    weights = np.zeros((8, 2))
    weights[0, 1] = 1.0
    model = onnx.load_from_string(policy_model(properties, weights, -1.0))
    graph = model.graph
    graph.node[-1].output[0] = "all"
    graph.initializer.append(onnx.numpy_helper.from_array(np.zeros(1, np.float32), "zero"))
    graph.initializer.append(onnx.numpy_helper.from_array(np.array([-1]), "flat"))
    make = onnx.helper.make_node
    graph.node.extend(
        [
            make("Less", ["all", "zero"], ["below"]),
            make("Reshape", ["below", "flat"], ["chosen"]),
            make("Compress", ["all", "chosen"], ["action"], axis=1),
        ]
    )
    graph.output[0].type.tensor_type.shape.dim[1].dim_param = "some"
    policy = PolicyModel(model.SerializeToString(), "policy.onnx")
    assert policy.infer(np.zeros(8, dtype=np.float32)) == pytest.approx([-1.0, -1.0])
    with pytest.raises(
        PolicyRefusedError, match=r"output: found shape \[1, 1\], expected \[1, 2\]"
    ):
        policy.infer(2.0 * np.eye(8, dtype=np.float32)[0])


def test_two_inputs_are_refused(properties: dict[str, str]) -> None:
    import onnx

    model = onnx.load_from_string(policy_model(properties))
    second = model.graph.input.add()
    second.CopyFrom(model.graph.input[0])
    second.name = "time_step"
    with pytest.raises(PolicyRefusedError, match=r"input: found 2 \(observation, time_step\)"):
        PolicyModel(model.SerializeToString(), "policy.onnx")


def test_weights_in_another_file_are_refused(
    properties: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise weights of another model count, if the working directory has a file of the name."""
    import onnx

    monkeypatch.chdir(tmp_path)
    model = onnx.load_from_string(policy_model(properties))
    file = tmp_path / "policy.onnx"
    onnx.save(model, file, save_as_external_data=True, location="weights", size_threshold=0)
    assert (tmp_path / "weights").exists()
    with pytest.raises(PolicyRefusedError, match=f"{file}: its weights are in another file"):
        load_policy(str(file))


def test_a_model_without_metadata_is_refused(properties: dict[str, str]) -> None:
    import onnx

    model = onnx.load_from_string(policy_model(properties))
    del model.metadata_props[:]
    with pytest.raises(
        PolicyRefusedError, match=r"keys missing: task, joint_names.*, policy_period; known"
    ):
        PolicyModel(model.SerializeToString(), "policy.onnx")


def test_a_model_that_is_not_finite_at_once_is_refused(properties: dict[str, str]) -> None:
    content = policy_model(properties, bias=np.array([0.0, np.nan]))
    with pytest.raises(PolicyRefusedError, match=r"the action of shoulder \(index 1\) is nan"):
        PolicyModel(content, "policy.onnx")
