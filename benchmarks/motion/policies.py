"""Measure policies: time of a tick, of observation and of inference, and the delay of an action.

A tick is compared with a tick of REMOTE, which follows a stream of commands. The network has two
hidden layers of 128 values; it observes 70 values and moves 14 joints.
"""

from __future__ import annotations

import gc
import time
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.motion.trajectories import JOINTS, PERIOD, facts, streamed
from benchmarks.support.figures import Figure, Samples, arguments, figure, report
from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controllers.policy.controller import RlPolicyController
from humanoid_policy.inference import Inference
from humanoid_policy.model import PolicyModel, load_policy
from humanoid_policy.timing import still_inputs

TICKS = 20_000
TICKS_OF_A_STEP = 4  # ticks in a policy step
HIDDEN = 128
MOTION_TIME = 1e4  # [s]: it lasts as long as the benchmark


def network() -> bytes:
    """Return the model."""
    from onnx import TensorProto, helper, numpy_helper

    names = ",".join(facts().joints.names)
    properties = {
        "task": "benchmark",
        "joint_names": names,
        "joint_stiffness": ",".join(["20.0"] * JOINTS),
        "joint_damping": ",".join(["2.0"] * JOINTS),
        "default_joint_pos": ",".join(["0.0"] * JOINTS),
        "action_joint_names": names,
        "action_kind": "residuals",
        "action_scale": "0.25",
        "observation_names": "joint_pos,joint_vel,joint_pos_error,reference_joint_vel,actions",
        "policy_period": str(PERIOD * TICKS_OF_A_STEP),
    }
    random = np.random.default_rng(1)
    sizes = [5 * JOINTS, HIDDEN, HIDDEN, JOINTS]
    nodes, constants, before = [], [], "observation"
    for i, (rows, columns) in enumerate(pairwise(sizes)):
        weights = random.normal(scale=0.3 / np.sqrt(rows), size=(rows, columns))
        constants.append(numpy_helper.from_array(weights.astype(np.float32), f"weights{i}"))
        nodes.append(helper.make_node("MatMul", [before, f"weights{i}"], [f"product{i}"]))
        nodes.append(helper.make_node("Tanh", [f"product{i}"], [f"layer{i}"]))
        before = f"layer{i}"
    graph = helper.make_graph(
        nodes,
        "policy",
        [helper.make_tensor_value_info("observation", TensorProto.FLOAT, [1, sizes[0]])],
        [helper.make_tensor_value_info(before, TensorProto.FLOAT, [1, JOINTS])],
        constants,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_operatorsetid("", 17)])
    model.ir_version = 10
    helper.set_model_props(model, properties)
    return bytes(model.SerializeToString())


def timed(samples: Samples) -> Figure:
    """Return the times after the first ones."""
    return figure(samples[len(samples) // 20 :], "us", 1e6)


def parts(model: PolicyModel, count: int) -> dict[str, Figure]:
    """Return the times of observation and inference."""
    inputs = still_inputs(model)
    observed, inferred = np.empty(count), np.empty(count)
    gc.collect()
    for i in range(count):
        begin = time.perf_counter()
        observation = model.observation.compute(inputs)
        middle = time.perf_counter()
        model.infer(observation)
        observed[i], inferred[i] = middle - begin, time.perf_counter() - middle
    return {"observation": timed(observed), "inference": timed(inferred)}


def delay(model: PolicyModel, count: int) -> Figure:
    """Return the time from a question to its answer by another thread."""
    inputs = still_inputs(model)
    inference = Inference(lambda it: model.infer(model.observation.compute(it)))
    thread = LINUX.start("policy", lambda: inference.run(LINUX))
    samples = np.empty(count)
    for i in range(count):
        begin = time.perf_counter()
        inference.ask(i, inputs)
        while inference.answer(i) is None:
            time.sleep(0.0)
        samples[i] = time.perf_counter() - begin
    inference.close()
    thread.join()
    return timed(samples)


def updates(file: Path, count: int) -> dict[str, Figure]:
    """Return the times of an update with a policy step, and of one between two steps."""
    controller = RlPolicyController()
    motion = {
        "joints": list(facts().joints.names),
        "times": [MOTION_TIME],
        "positions": [1.0] * JOINTS,
    }
    raw = {"model": str(file), "motion": motion}
    controller.on_configure(RlPolicyController.Parameters.model_validate(raw), facts())
    state, command = JointState(JOINTS), JointCommand(JOINTS)
    state.array.fill(0.0)
    controller.on_activate(state, JointCommand(JOINTS), 0.0)
    samples = np.empty(count)
    gc.collect()
    for i in range(count):
        begin = time.perf_counter()
        controller.update(state, command, i * PERIOD, PERIOD)
        samples[i] = time.perf_counter() - begin
        controller.inference.step()
        state.position[:] = command.position
    steps = np.arange(count) % TICKS_OF_A_STEP == 0
    return {
        "update of the policy controller": timed(samples[~steps]),
        "the same with a policy step": timed(samples[steps]),
    }


def main() -> None:
    """Entry point."""
    options = arguments(__doc__).parse_args()
    count = TICKS // 20 if options.quick else TICKS
    with TemporaryDirectory() as folder:
        file = Path(folder) / "policy.onnx"
        file.write_bytes(network())
        model = load_policy(str(file))
        figures = {
            **updates(file, count),
            "update of REMOTE": streamed(count),
            **parts(model, count),
            "question to answer by the other thread": delay(model, count // 4),
        }
    report("Policy of 14 joints", figures, options.json)


if __name__ == "__main__":
    main()
