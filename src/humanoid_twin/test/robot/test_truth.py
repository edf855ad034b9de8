"""Node `truth`: the true joint positions, for displays."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
import rclpy
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState
from test_support.twin.prime_actuators import JOINTS

from humanoid_twin.truth_node import TOPIC, main

TIMEOUT = 60.0  # [s]


@pytest.fixture
def listen() -> Iterator[Callable[[Callable[[JointState], bool]], JointState]]:
    """Return a function that waits for the first message that meets a condition."""
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node("listener", context=context)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    received: list[JointState] = []
    node.create_subscription(JointState, TOPIC, received.append, 10)

    def first(fits: Callable[[JointState], bool]) -> JointState:
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            executor.spin_once(timeout_sec=0.1)
            for message in received:
                if fits(message):
                    return message
            received.clear()
        raise AssertionError("nothing came")

    yield first
    executor.shutdown()
    node.destroy_node()
    rclpy.shutdown(context=context)


def test_the_truth_is_published_until_the_node_ends(stepped, listen):
    command = [
        sys.executable,
        "-m",
        "humanoid_twin.truth_node",
        "--ros-args",
        "-p",
        f"control:={stepped.socket}",
    ]
    node = subprocess.Popen(command, env=os.environ, stderr=subprocess.PIPE, text=True)
    try:
        stepped.control.set_joint("left_wrist_yaw", 0.75, -0.5)
        message = listen(lambda message: 0.75 in message.position)
        index = JOINTS.index("left_wrist_yaw")
        assert tuple(message.name) == JOINTS
        assert message.position[index] == 0.75
        assert message.velocity[index] == -0.5
        assert len(message.effort) == 14
        assert message.header.stamp.sec > 0
    finally:
        node.send_signal(signal.SIGINT)
        _, errors = node.communicate(timeout=30)
    assert (node.returncode, errors) == (0, "")


@pytest.fixture
def handlers() -> Iterator[None]:
    """Restore the signal handlers, which the node's main function changes."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def test_truth_node_reports_a_missing_robot(handlers, tmp_path, capsys):
    assert main(["--ros-args", "-p", f"control:={tmp_path / 'none'}"]) == 1
    assert capsys.readouterr().err.startswith("truth: no robot listens at")
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN, "a second one would kill its end"


def test_truth_node_loads_no_physics() -> None:
    program = (
        "import sys, humanoid_twin.truth_node; "
        "slow = {'mujoco', 'pydantic', 'humanoid_twin.scheduler'}; "
        "sys.exit(' '.join(slow & set(sys.modules)) or 0)"
    )
    found = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stderr) == (0, "")
