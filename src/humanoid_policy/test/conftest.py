"""A small policy: its metadata as an ONNX file has it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from humanoid_policy.metadata import PolicyMetadata

PROPERTIES = {
    "task": "reach",
    "joint_names": "shoulder,elbow,wrist",
    "joint_stiffness": "20.0,20.0,5.5",
    "joint_damping": "2.0,2.0,0.25",
    "default_joint_pos": "0.1,-0.5,0.0",
    "action_joint_names": "wrist,shoulder",
    "action_kind": "targets",
    "action_scale": "0.5",
    "observation_names": "joint_pos,joint_vel,actions",
    "observation_scales": "1.0,0.1,1.0",
    "policy_period": "0.02",
}


@pytest.fixture
def properties() -> dict[str, str]:
    return dict(PROPERTIES)


@pytest.fixture
def metadata() -> Callable[..., PolicyMetadata]:
    """Make metadata with some keys changed."""

    def make(**changes: str) -> PolicyMetadata:
        found = {key: text for key, text in {**PROPERTIES, **changes}.items() if text}
        return PolicyMetadata.from_strings(found, "policy.onnx")

    return make
