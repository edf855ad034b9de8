"""Writes a trained network as an ONNX file with the metadata of its policy."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from humanoid_policy.metadata import PolicyMetadata
from humanoid_policy_training.arm_network import Parameters
from humanoid_policy_training.reaching_task import ReachingTask

OPSET: Final = 17
IR_VERSION: Final = 10  # of the file format: runtimes of 2024 read it
# Part of the trained action that the robot follows. The training uses up the margin of stability:
# with the whole action, arms without friction swing by up to 1.5 rad at latencies of 60 to 70 ms.
GAIN: Final = 0.6


def written_metadata(task: ReachingTask) -> PolicyMetadata:
    """Return the metadata of the file: those of the training with a lower gain."""
    scale = tuple(GAIN * it for it in task.metadata.action_scale)
    return task.metadata.model_copy(update={"action_scale": scale})


def policy_model(task: ReachingTask, parameters: Parameters) -> onnx.ModelProto:
    """Return the ONNX model of the network of `task` with `parameters` (size,)."""
    network = task.network
    first, last = network.layers(parameters.astype(np.float32))
    actions = len(task.metadata.action_joint_names)
    constants: dict[str, NDArray[np.generic]] = {
        "places": network.places.ravel().astype(np.int64),
        "arms": np.array(network.places.shape, dtype=np.int64),
        "signs": network.signs,
        "weights_0": first[:-1],
        "bias_0": first[-1],
        "weights_1": last[:-1],
        "bias_1": last[-1],
        "action_signs": network.action_signs,
        "actions_shape": np.array([1, actions], dtype=np.int64),
        "references": task.bounds.places.astype(np.int64),
        "upper": task.bounds.upper,
        "lower": task.bounds.lower,
        "scale": task.bounds.scale,
        "none": np.zeros(1, dtype=np.float32),
    }
    steps = [
        ("Gather", ("observation", "places"), "gathered", {"axis": 1}),
        ("Reshape", ("gathered", "arms"), "of_arms", {}),
        ("Mul", ("of_arms", "signs"), "seen", {}),
        ("Gemm", ("seen", "weights_0", "bias_0"), "sum_0", {}),
        ("Tanh", ("sum_0",), "inner", {}),
        ("Gemm", ("inner", "weights_1", "bias_1"), "sum_1", {}),
        ("Tanh", ("sum_1",), "outer", {}),
        ("Mul", ("outer", "action_signs"), "both", {}),
        ("Reshape", ("both", "actions_shape"), "free", {}),
        ("Gather", ("observation", "references"), "reference", {"axis": 1}),
        ("Sub", ("upper", "reference"), "up", {}),
        ("Max", ("up", "none"), "room_up", {}),
        ("Div", ("room_up", "scale"), "highest", {}),
        ("Sub", ("lower", "reference"), "down", {}),
        ("Min", ("down", "none"), "room_down", {}),
        ("Div", ("room_down", "scale"), "lowest", {}),
        ("Max", ("free", "lowest"), "from_below", {}),
        ("Min", ("from_below", "highest"), "action", {}),
    ]
    graph = helper.make_graph(
        [helper.make_node(kind, into, [out], **more) for kind, into, out, more in steps],
        task.metadata.task,
        [_values("observation", task.observation.size)],
        [_values("action", actions)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    opset = helper.make_opsetid("", OPSET)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION)
    for key, text in written_metadata(task).to_strings().items():
        model.metadata_props.add(key=key, value=text)
    onnx.checker.check_model(model)
    return model


def write_policy(path: Path, task: ReachingTask, parameters: Parameters) -> None:
    """Write the policy to `path`. Raises OSError if it cannot be written."""
    path.write_bytes(policy_model(task, parameters).SerializeToString())


def _values(name: str, count: int) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, count])
