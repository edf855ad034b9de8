"""Small ONNX models of policies, with metadata."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_policy.metadata import PolicyMetadata
from humanoid_policy.observation.observation import Observation
from test_support.arm_joints import ALL_JOINTS, ARM

OPSET: Final = 17
IR_VERSION: Final = 10


READY: Final = (-0.15, 0.12, 0.0, -0.5, 0.0, 0.0, 0.0)  # [rad] of the left arm; rolls are mirrored


def prime_properties(**changes: str) -> dict[str, str]:
    """Return the metadata of a policy of both arms of Prime that begins at the ready pose.

    Its gains are those of LOCOMOTION.
    """
    mirrored = [-value if joint.endswith("roll") else value
                for joint, value in zip(ARM, READY, strict=True)]  # fmt: skip
    found = {
        "task": "test",
        "joint_names": ",".join(ALL_JOINTS),
        "joint_stiffness": ",".join(["20.0"] * len(ALL_JOINTS)),
        "joint_damping": ",".join(["2.0"] * len(ALL_JOINTS)),
        "default_joint_pos": ",".join(str(value) for value in (*READY, *mirrored)),
        "action_joint_names": ",".join(ALL_JOINTS),
        "action_kind": "targets",
        "action_scale": "0.5",
        "observation_names": "joint_pos,joint_vel,actions",
        "policy_period": "0.02",
    }
    return {key: text for key, text in {**found, **changes}.items() if text}


def policy_model(
    properties: Mapping[str, str],
    weights: FloatArray | None = None,
    bias: FloatArray | float = 0.0,
    *,
    size: int | None = None,
    invalid_for: float = np.inf,
    endless_for: float = np.inf,
    chain: int = 0,
) -> bytes:
    """Return a model whose action is `observation @ weights + bias`, by default the bias.

    The action is not finite where the sum of squares of the observation exceeds `invalid_for`. The
    inference has no end where it exceeds `endless_for`.
    `size` of the observation is that of the metadata. `chain`: nodes that change nothing.
    """
    from onnx import TensorProto, helper, numpy_helper  # takes 0.3 s

    metadata = PolicyMetadata.from_strings(properties, "test")
    count = len(metadata.action_joint_names)
    size = Observation(metadata).size if size is None else size
    matrix = np.zeros((size, count)) if weights is None else weights
    constants = {
        "weights": matrix,
        "bias": np.broadcast_to(bias, (1, count)),
        "bound": np.full(1, min(invalid_for, 1e30)),
        "none": np.zeros(1),
        "most": np.full((1, 1), min(endless_for, 1e30)),
    }
    initial = [
        numpy_helper.from_array(value.astype(np.float32), name) for name, value in constants.items()
    ]
    nodes = [
        helper.make_node("MatMul", ["observation", "weights"], ["product"]),
        helper.make_node("Add", ["product", "bias"], ["sum"]),
        helper.make_node("ReduceSumSquare", ["observation"], ["square"], axes=[1], keepdims=1),
        helper.make_node("Sub", ["bound", "square"], ["left"]),
        helper.make_node("Sqrt", ["left"], ["root"]),  # of a negative number: not a number
        helper.make_node("Mul", ["root", "none"], ["nothing"]),
        helper.make_node("Add", ["sum", "nothing"], ["link_0"]),
        *(helper.make_node("Identity", [f"link_{i}"], [f"link_{i + 1}"]) for i in range(chain)),
    ]
    last = f"link_{chain}"
    if endless_for < np.inf:
        nodes += [
            helper.make_node("Greater", ["square", "most"], ["goes_on"]),
            helper.make_node("Loop", ["", "goes_on", last], ["action"], body=_round(count)),
        ]
    else:
        nodes.append(helper.make_node("Identity", [last], ["action"]))
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("observation", TensorProto.FLOAT, [1, size])],
        [helper.make_tensor_value_info("action", TensorProto.FLOAT, [1, count])],
        initial,
    )
    opsets = [helper.make_operatorsetid("", OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
    helper.set_model_props(model, dict(properties))
    return bytes(model.SerializeToString())


def _round(count: int) -> Any:
    """Return the body of a loop of ONNX: one more round, with the same `count` values."""
    from onnx import TensorProto, helper

    names = ("round", "goes_on", "value"), ("goes_on_again", "same")
    types = (TensorProto.INT64, TensorProto.BOOL, TensorProto.FLOAT)
    shapes: tuple[list[int], ...] = ([], [1, 1], [1, count])
    facts = dict(zip(names[0], zip(types, shapes, strict=True), strict=True))
    facts |= {"goes_on_again": facts["goes_on"], "same": facts["value"]}
    inputs, outputs = ([helper.make_tensor_value_info(it, *facts[it]) for it in of] for of in names)
    pairs = zip(names[0][1:], names[1], strict=True)
    nodes = [helper.make_node("Identity", [one], [other]) for one, other in pairs]
    return helper.make_graph(nodes, "round", inputs, outputs)


def write_policy(
    file: Path,
    properties: Mapping[str, str],
    bias: FloatArray | float = 0.0,
    **changes: Any,
) -> Path:
    """Write a model into `file`; return it. See `policy_model`."""
    file.write_bytes(policy_model(properties, bias=bias, **changes))
    return file
