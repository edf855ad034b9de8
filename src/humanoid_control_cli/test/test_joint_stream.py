"""The joint stream of a running robot: clients in other processes, which die and freeze."""

from __future__ import annotations

import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import grpc
import mujoco
import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_joint_client import (
    AlreadyStreamingError,
    Capability,
    Control,
    Execution,
    ExpiredError,
    InactiveError,
    InvalidRequestError,
    JointClient,
    LeaseTakenError,
    NoAnswerError,
    NoLeaseError,
    NotReadyError,
    Status,
    TooDistantError,
    UnsupportedError,
)
from humanoid_joint_client import joint_stream_pb2 as pb
from src.humanoid_control_cli.test.conftest import Run, Starter, wait_until
from src.humanoid_control_cli.test.stream_robot import (
    TIMEOUT,
    brought_up,
    client_address,
    connected,
    ends,
    is_free,
    next_statement,
    sending,
    standing_by,
    until,
)

ROOT: Final = Path(__file__).resolve().parents[3]
SERVES: Final = "joint stream of 14 joints"  # the first words of a server
EXAMPLES: Final = sorted((ROOT / "docs/examples").glob("joint_stream_*.py"))
# A client that commands until it dies; each of its commands lasts for a second.
STREAMING: Final = """
from humanoid_joint_client import JointClient
with JointClient() as client:
    states = client.states()
    with client.control() as control:
        for state in states:
            control.send(state.position, horizon=0.9)
            print("sent", flush=True)
"""


@pytest.fixture(scope="module")
def robot(start_once: Starter, quick_controllers: Path) -> Starter:
    return brought_up(start_once, "mujoco", quick_controllers)


@pytest.fixture
def ready(robot: Starter, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModeClient]:
    yield from standing_by(robot, monkeypatch)


@pytest.fixture
def client(robot: Starter) -> Iterator[JointClient]:
    yield from connected(robot)


def test_a_client_holds_the_pose_and_every_key_comes_back(
    ready: ModeClient, client: JointClient
) -> None:
    """Cases 1, 25, 26, 34 (Deactivate), 38 (a command for each state)."""
    states = client.states(keep=1000)
    pose = next(states).position
    with client.control() as control:
        sent, echoed = [], []
        for _, state in zip(range(200), states, strict=False):
            sent.append(control.send(pose, horizon=0.9))
            if state.received_key:
                echoed.append(state)
                assert state.received_key <= sent[-1]
        last = until(states, lambda it: it.applied_key == sent[-1])
        assert last.execution is Execution.FOLLOWING
        keys = [state.received_key for state in echoed]
        assert keys == sorted(keys)
        assert all(state.status is Status.OK for state in echoed)
        with pytest.warns(UserWarning, match="key 0"):
            control.send(pose, key=0, horizon=0.9)
        assert until(states, lambda it: it.received_key == 0).status is Status.OK
        end = control.finish()
        assert end.counters.received == end.counters.accepted == len(sent) + 1 - control.dropped
        assert 0 < end.counters.applied <= end.counters.accepted
        assert client.latency.one_way.count > 0
    wait_until(lambda: client.feedback().mode == "DAMPING", "DAMPING")
    assert not client.feedback().message
    with pytest.raises(NoLeaseError):
        control.activate()


def test_refused_update_ends_the_stream_and_the_next_activation_starts_it_again(
    ready: ModeClient, client: JointClient
) -> None:
    """Cases 7, 9, 10, 11, 36, 37, end to end."""
    states = client.states()
    pose = next(states).position
    with client.control() as control:

        def follow() -> None:
            control.activate()
            key = control.send(pose, horizon=0.9)
            until(states, lambda it: it.applied_key == key)

        follow()
        control.send(pose[:5])
        assert "position: 5 values, expected 14" in ends(control, InvalidRequestError)
        follow()
        control.send(pose, load=[1.0] * 14)
        assert "takes no load" in ends(control, UnsupportedError)
        follow()
        control.send(pose, horizon=5.0)  # as a client whose clock is ahead
        assert "end_time" in ends(control, TooDistantError)
        follow()
        control.send(pose, horizon=-5.0)  # as one whose clock is behind
        assert "before the receipt" in ends(control, ExpiredError)
        follow()
        until(states, lambda it: it.execution is Execution.FALLBACK)
        assert "over before another one came" in ends(control, ExpiredError)
    capabilities = client.config.joints[0].capabilities
    assert (capabilities["load"], capabilities["k_q_p"], capabilities["position"]) == (
        Capability.NEVER,
        Capability.PER_MODE,
        Capability.PER_TICK,
    )


def test_a_second_client_does_not_disturb_the_first(ready: ModeClient, client: JointClient) -> None:
    """Cases 29 and 41 (a message of 8 MB)."""
    states = client.states()
    pose = next(states).position
    second = JointClient(client_address(), timeout=TIMEOUT)
    with client.control("first") as control, second:
        control.send(pose, horizon=0.9)
        with sending(control, pose):
            with pytest.raises(LeaseTakenError, match="first has it"), second.control():
                raise AssertionError
            with pytest.raises(AlreadyStreamingError):
                _result(second.open_stream(iter([pb.Update(lease=control.lease)])))
            with pytest.raises(NoLeaseError):
                _result(second.open_stream(iter([pb.Update(lease="wrong")])))
            with pytest.raises(NoAnswerError):
                _result(second.open_stream(iter([pb.Update(position=[0.0] * 1_000_000)])))
        key = control.send(pose, horizon=0.9)
        assert until(states, lambda it: it.applied_key == key).execution is Execution.FOLLOWING


def _result(stream: Any) -> Any:
    try:
        return Control._result(stream)
    except grpc.RpcError as error:
        raise NoAnswerError(str(error)) from error


def test_the_operator_takes_the_robot_back(ready: ModeClient, client: JointClient) -> None:
    """Case 34."""
    states = client.states()
    with client.control() as control:
        key = control.send(next(states).position, horizon=0.9)
        until(states, lambda it: it.applied_key == key)
        ready.request(Intent.DAMP)
        assert "the robot is in DAMPING" in ends(control, InactiveError)
        with pytest.raises(NotReadyError, match="requires a finished STANDBY"):
            control.activate()


def streaming(robot: Starter) -> Run:
    run = robot(sys.executable, "-c", STREAMING)
    run.wait_for("sent\nsent\nsent")
    return run


def test_a_killed_client_ends_before_its_command_does(
    robot: Starter, ready: ModeClient, client: JointClient
) -> None:
    """Case 27: the server detects it by the socket; else the status would be EXPIRED."""
    run = streaming(robot)
    states = client.states()
    until(states, lambda it: it.execution is Execution.FOLLOWING)
    run.send(signal.SIGKILL)
    until(states, lambda it: it.execution is Execution.FALLBACK)
    wait_until(lambda: client.feedback().message, "the reason")
    assert client.feedback().message == "INACTIVE: the connection was lost"
    assert Execution(client.feedback().execution) is Execution.FALLBACK, "still in REMOTE"


def test_a_frozen_client_loses_the_robot_at_the_end_of_its_command(
    robot: Starter, ready: ModeClient, client: JointClient
) -> None:
    """Case 28 by a stopped client: its updates end without a signal of that."""
    wait_until(lambda: is_free(client), "the end of an earlier client's lease")
    run = streaming(robot)
    states = client.states()
    until(states, lambda it: it.execution is Execution.FOLLOWING)
    run.send(signal.SIGSTOP)
    until(states, lambda it: it.execution is Execution.FALLBACK)
    wait_until(lambda: client.feedback().message, "the reason")
    assert client.feedback().message.startswith("EXPIRED: ")
    wait_until(lambda: is_free(client), "the end of its lease")
    with client.control() as control:  # another client takes over, in REMOTE
        key = control.send(next(states).position, horizon=0.9)
        until(states, lambda it: it.applied_key == key)
        run.send(signal.SIGCONT)
        assert run.finish() == 1  # the answer tells it that it was too late
        assert "Error" in run.text
        key = control.send(next(states).position, horizon=0.9)
        until(states, lambda it: it.applied_key == key)


def test_the_loop_runs_on_when_the_server_is_killed(
    robot: Starter, ready: ModeClient, client: JointClient
) -> None:
    """The server is killed during a stream; `hc up` starts another one."""
    wait_until(lambda: is_free(client), "the end of an earlier client's lease")
    run = streaming(robot)
    switch = next_statement(ready).switch_number
    there = robot.up.text.count(SERVES)
    os.kill(robot.up.descendant("joint_stream"), signal.SIGKILL)
    assert run.finish() == 1
    wait_until(lambda: robot.up.text.count(SERVES) > there, "another server")
    now = next_statement(ready)
    assert (now.mode, now.switch_number) == (Mode.REMOTE, switch)
    with JointClient(client_address(), timeout=TIMEOUT) as again:
        states = again.states()
        assert next(states).execution is Execution.FALLBACK
        with again.control() as control:
            key = control.send(next(states).position, horizon=0.9)
            until(states, lambda it: it.applied_key == key)


def policy(joints: int) -> onnx.ModelProto:
    """Return a policy that moves joints back to the start: -0.1 times half of its input."""
    weights = np.vstack((-0.1 * np.eye(joints), np.zeros((joints, joints)))).astype(np.float32)
    kind = onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["observed", "weights"], ["action"])],
        "policy",
        [helper.make_tensor_value_info("observed", kind, [1, 2 * joints])],
        [helper.make_tensor_value_info("action", kind, [1, joints])],
        [numpy_helper.from_array(weights, "weights")],
    )
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8)


def test_mujoco_loads_the_model_that_the_server_sends(
    ready: ModeClient, client: JointClient
) -> None:
    found = client.mjcf()
    model = mujoco.MjModel.from_xml_string(found.xml, found.meshes)
    names = [model.actuator(row).name for row in range(model.nu)]
    assert tuple(names) == client.config.names
    limits = [joint.effort for joint in client.config.joints]
    assert model.actuator_forcerange[:, 1].tolist() == pytest.approx(limits)
    assert client.urdf().startswith("<?xml")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_run(robot: Starter, ready: ModeClient, example: Path, tmp_path: Path) -> None:
    assert len(example.read_text().splitlines()) <= 40
    model = tmp_path / "policy.onnx"
    onnx.save(policy(14), model)
    run = robot(sys.executable, str(example), "0.3", str(model))
    assert run.finish() == 0, run.text


def test_hc_prints_the_latency(robot: Starter, ready: ModeClient) -> None:
    run = robot.hc_anew("stream", "latency", "--hold", "--seconds", "0.3")
    assert run.finish() == 0, run.text
    for line in ("14 joints, states at 200 Hz", "one way: p50", "echo: p50", "state gap: p50"):
        assert line in run.text
    received, executed = map(int, re.findall(r"(\d+) commands, (\d+) executed", run.text)[0])
    (states,) = map(int, re.findall(r"(\d+) states, ", run.text))
    assert 0 < executed <= received <= states  # a command answers each state


def test_the_latency_of_a_loop_that_stands_still_is_not_waited_for(
    start: Starter, quick_controllers: Path
) -> None:
    robot = brought_up(start, "mock", quick_controllers)
    control = robot.up.descendant("humanoid_controllers/control")
    os.kill(control, signal.SIGSTOP)
    try:
        run = robot.hc_anew("stream", "latency")
        assert run.finish() == 1, run.text
    finally:
        os.kill(control, signal.SIGCONT)
    assert "hc: no state for 5 s: the control loop stands still" in run.text
