"""The written file has the trained network and describes its input."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from humanoid_policy.metadata import PolicyMetadata
from humanoid_policy_training.reaching_task import ReachingTask

onnx_export = pytest.importorskip("humanoid_policy_training.onnx_export", reason="onnx")
runtime = pytest.importorskip("onnxruntime")


def test_the_file_computes_the_actions_of_the_network(task: ReachingTask, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    parameters = random.normal(0.0, 0.3, task.network.size)
    onnx_export.write_policy(tmp_path / "policy.onnx", task, parameters)
    session = runtime.InferenceSession(tmp_path / "policy.onnx", providers=["CPUExecutionProvider"])
    layers = task.network.layers(parameters[None].astype(np.float32))
    for _ in range(20):
        seen = random.normal(0.0, 1.0, (1, task.observation.size)).astype(np.float32)
        (found,) = session.run(None, {session.get_inputs()[0].name: seen})
        expected = task.bounds.bounded(task.network.actions(layers, seen[None])[0], seen)
        np.testing.assert_allclose(found, expected, atol=1e-6)


def test_the_file_has_the_metadata_of_its_task_with_a_lower_gain(
    task: ReachingTask, tmp_path: Path
) -> None:
    onnx_export.write_policy(tmp_path / "policy.onnx", task, np.zeros(task.network.size))
    session = runtime.InferenceSession(tmp_path / "policy.onnx", providers=["CPUExecutionProvider"])
    properties = session.get_modelmeta().custom_metadata_map
    written = PolicyMetadata.from_strings(properties, "policy.onnx")
    scale = task.metadata.action_scale
    assert written.action_scale == pytest.approx([0.6 * it for it in scale])
    assert written.model_copy(update={"action_scale": scale}) == task.metadata
