"""A foreign model is loaded, run and timed in a process with limits before another one takes it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_support.policies import policy_model, write_policy

from humanoid_policy.errors import PolicyRefusedError
from humanoid_policy.trial import load_tried, try_policy


def with_huge_constant(properties: dict[str, str]) -> bytes:
    """Return a model of a few kilobytes with a constant of 40 GB."""
    import onnx
    from onnx import helper, numpy_helper

    model = onnx.load_from_string(policy_model(properties))
    model.graph.node[-1].output[0] = "small"
    sizes = np.full(2, 100_000, dtype=np.int64)
    model.graph.initializer.append(numpy_helper.from_array(sizes, "sizes"))
    model.graph.node.extend(
        [
            helper.make_node("ConstantOfShape", ["sizes"], ["huge"]),
            helper.make_node("ReduceMax", ["huge"], ["largest"], keepdims=0),
            helper.make_node("Add", ["small", "largest"], ["action"]),
        ]
    )
    return bytes(model.SerializeToString())


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        pytest.param({"chain": 20_000}, "takes", id="nodes that take long to load"),
        pytest.param({"endless_for": -1.0}, "take", id="an inference without an end"),
        pytest.param({"bias": np.nan}, "is nan", id="an action that is not finite"),
    ],
)
def test_a_model_that_would_harm_its_process_is_refused(
    properties: dict[str, str], tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    file = write_policy(tmp_path / "policy.onnx", properties, **changes)
    with pytest.raises(PolicyRefusedError, match=f"{file}: .*{words}"):
        load_tried(str(file))


def test_a_model_that_needs_all_memory_is_refused(
    properties: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "policy.onnx"
    file.write_bytes(with_huge_constant(properties))
    with pytest.raises(PolicyRefusedError, match=f"{file}: cannot be run"):
        load_tried(str(file))


def test_a_model_that_passed_is_timed_and_not_tried_again(
    properties: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_policy(tmp_path / "policy.onnx", properties)
    tried = try_policy(str(file))
    assert tried.metadata.to_strings() == properties
    assert 0.0 < tried.times.median <= tried.times.most
    monkeypatch.setattr(sys, "executable", "/nothing")
    assert load_tried(str(file)).metadata == tried.metadata
