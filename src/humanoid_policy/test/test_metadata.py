"""The metadata of a policy: read, written, and refused with file, key, joint, found, expected."""

from __future__ import annotations

import pytest

from humanoid_policy.errors import PolicyRefusedError
from humanoid_policy.metadata import ActionKind, PolicyMetadata


def test_metadata_is_read(properties: dict[str, str]) -> None:
    found = PolicyMetadata.from_strings(properties, "policy.onnx")
    assert found.joint_names == ("shoulder", "elbow", "wrist")
    assert found.joint_stiffness == (20.0, 20.0, 5.5)
    assert found.action_kind is ActionKind.TARGETS
    assert found.action_rows == (2, 0)
    assert found.scales == (0.5, 0.5)
    assert found.policy_period == 0.02


def test_read_metadata_is_written_unchanged(properties: dict[str, str]) -> None:
    found = PolicyMetadata.from_strings(properties, "policy.onnx")
    assert found.to_strings() == properties
    del properties["observation_scales"]
    assert "observation_scales" not in PolicyMetadata.from_strings(properties, "").to_strings()


def test_a_training_gives_lists(properties: dict[str, str]) -> None:
    made = PolicyMetadata(
        task="reach",
        joint_names=["shoulder", "elbow", "wrist"],
        joint_stiffness=[20.0, 20.0, 5.5],
        joint_damping=[2.0, 2.0, 0.25],
        default_joint_pos=[0.1, -0.5, 0.0],
        action_joint_names=["wrist", "shoulder"],
        action_kind=ActionKind.TARGETS,
        action_scale=[0.5],
        observation_names=["joint_pos", "joint_vel", "actions"],
        observation_scales=[1.0, 0.1, 1.0],
        policy_period=0.02,
    )
    assert made == PolicyMetadata.from_strings(properties, "policy.onnx")


def test_metadata_ignores_the_notes_of_exporters(properties: dict[str, str]) -> None:
    with_notes = {**properties, "run_path": "logs/1", "command_names": "motion"}
    assert PolicyMetadata.from_strings(with_notes, "") == PolicyMetadata.from_strings(
        properties, ""
    )


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("task", "", "task: "),
        ("joint_names", "shoulder,elbow,elbow", "joint_names: index 2: 'elbow' is named twice"),
        ("joint_names", "shoulder,,wrist", "joint_names: index 1: found '', expected a name"),
        ("joint_names", "shoulder,elbow", "joint_stiffness: found 3 values, expected 2"),
        ("joint_stiffness", "20,x,5", "joint_stiffness: index 1: found 'x', expected a finite"),
        ("joint_stiffness", "20,nan,5", "joint_stiffness: index 1: found 'nan'"),
        ("joint_stiffness", "20,2_0,5", "joint_stiffness: index 1: found '2_0'"),
        ("joint_stiffness", "20,-1,5", "elbow (index 1): found -1, expected 0 or more"),
        ("joint_stiffness", "20,1e300,5", "joint_stiffness: index 1: found 1e+300"),
        ("joint_stiffness", "20,1e999,5", "joint_stiffness: index 1: found inf"),
        ("joint_damping", "2,2", "joint_damping: found 2 values, expected 3, one per joint"),
        ("joint_damping", "2,2,-0.1", "wrist (index 2): found -0.1"),
        ("default_joint_pos", "0", "default_joint_pos: found 1 values, expected 3"),
        (
            "action_joint_names",
            "wrist,knee",
            "index 1: unknown joint of joint_names 'knee'; known: shoulder",
        ),
        ("action_kind", "target", "found 'target', expected one of targets, deltas, residuals"),
        ("action_scale", "1,2,3", "action_scale: found 3 values, expected 2, one per action"),
        ("observation_names", "joint_pos,joint_speed", "index 1: unknown term 'joint_speed'"),
        ("observation_names", "joint_pos,joint_pos,actions", "index 1: 'joint_pos' is named twice"),
        ("observation_scales", "1,2", "observation_scales: found 2 values, expected 3, one per"),
        ("policy_period", "0", "policy_period: "),
        ("policy_period", "1.5", "policy_period: "),
        ("policy_period", "20 ms", "policy_period: index 0: found '20 ms'"),
    ],
)
def test_wrong_values_are_refused_by_key(
    properties: dict[str, str], key: str, text: str, words: str
) -> None:
    properties[key] = text
    with pytest.raises(PolicyRefusedError) as refused:
        PolicyMetadata.from_strings(properties, "models/policy.onnx")
    assert str(refused.value).startswith("models/policy.onnx: metadata ")
    assert words in str(refused.value)
    assert len(str(refused.value)) < 500


def test_missing_and_misspelt_keys_are_refused_by_name(properties: dict[str, str]) -> None:
    properties["observation_scale"] = properties.pop("observation_scales")
    del properties["policy_period"]
    with pytest.raises(PolicyRefusedError) as refused:
        PolicyMetadata.from_strings(properties, "policy.onnx")
    text = str(refused.value)
    assert "unknown: 'observation_scale'; missing: policy_period; known: task, " in text
