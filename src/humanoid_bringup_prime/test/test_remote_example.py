"""The example of docs/examples raises an elbow in the simulation, and ends in DAMPING."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from humanoid_control_msgs.msg import ControlMode

from humanoid_bringup.options import Backend

EXAMPLE = Path(__file__).resolve().parents[3] / "docs" / "examples" / "raise_an_elbow.py"
ELBOW = "left_elbow_pitch"
GIVE_UP = 60.0  # [s]; a dead-man's switch


def started(timeout: float | None = None) -> subprocess.Popen[str]:
    """Run the example, optionally with another TIMEOUT [s]; a pipe holds its whole output."""
    command = [sys.executable, str(EXAMPLE)]
    if timeout is not None:
        code = f"import {EXAMPLE.stem} as it; it.TIMEOUT = {timeout}; it.main()"
        command = [sys.executable, "-c", code]
    return subprocess.Popen(command, cwd=EXAMPLE.parent, stdout=PIPE, stderr=STDOUT, text=True)


def output(example: subprocess.Popen[str]) -> str:
    try:
        return example.communicate(timeout=GIVE_UP)[0]
    finally:
        example.kill()


def test_the_example_ends_with_the_remedy_if_no_robot_runs(domain: int) -> None:
    example = started(timeout=0.5)
    text = output(example)
    assert "no robot answers: start one (`hc up mujoco`) with the same ROS_DOMAIN_ID" in text
    assert example.returncode == 1


def test_the_example_ends_with_the_remedy_if_the_robot_has_fallen(
    domain: int,
) -> None:
    rclpy.init()
    try:
        node = rclpy.create_node("mode_manager")
        modes = node.create_publisher(ControlMode, "/control_mode", 10)
        fallen = ControlMode(mode=ControlMode.DAMPING, controller_name="damping_controller")
        node.create_timer(0.02, lambda: modes.publish(fallen))
        example = started(timeout=5.0)  # until the example has discovered the mode manager
        deadline = time.monotonic() + GIVE_UP
        while example.poll() is None and time.monotonic() < deadline:
            rclpy.spin_once(node, timeout_sec=0.1)
    finally:
        rclpy.shutdown()
    text = output(example)
    assert "waiting for REMOTE: hc mode remote" in text
    assert "the robot is not in REMOTE: `hc status` tells why, `hc mode remote` requests" in text
    assert example.returncode == 1


def test_the_example_raises_an_elbow_lowers_it_and_leaves_the_robot_in_damping(
    start_control: Any, client: Any
) -> None:
    start_control(backend=Backend.MUJOCO, real_time_factor=1.0)
    client.connect()
    for mode in (ControlMode.DAMPING, ControlMode.STANDBY):
        client.reach(mode)
    client.finish_standby()
    client.reach(ControlMode.REMOTE)
    client.joint_states.clear()
    example = started()
    client.until(lambda: example.poll() is not None, "the end of the example")
    text = output(example)
    assert example.returncode == 0, text
    assert "waiting" not in text
    assert client.now.mode == ControlMode.DAMPING
    assert client.now.status_message == ""
    names = list(client.joint_states[0].name)
    positions = np.array([state.position for state in client.joint_states])
    elbow = positions[:, names.index(ELBOW)]
    others = np.delete(positions, names.index(ELBOW), axis=1)
    assert elbow.min() < elbow[0] - 0.4
    assert abs(elbow[-1] - elbow[0]) < 0.2
    assert np.abs(others - others[0]).max() < 0.3  # the arms sag in DAMPING


def test_a_client_without_ros_moves_the_elbow_and_its_latency_is_measured(
    start_control: Any, client: Any
) -> None:
    """The example uses another implementation of DDS than the robot."""
    start_control(backend=Backend.MOCK)
    client.connect()
    for mode in (ControlMode.DAMPING, ControlMode.STANDBY):
        client.reach(mode)
    client.finish_standby()
    client.reach(ControlMode.REMOTE)
    figures: list[dict[str, str]] = []

    def note(message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name == "remote: commands":
                figures.append({it.key: it.value for it in status.values})

    client.listen(DiagnosticArray, "/diagnostics", note)
    client.joint_states.clear()
    words = [sys.executable, str(EXAMPLE.with_name("stream_without_ros.py"))]
    example = subprocess.Popen(words, stdout=PIPE, stderr=STDOUT, text=True)
    client.until(lambda: example.poll() is not None, "the end of the example")
    text = output(example)
    assert example.returncode == 0, text
    names = list(client.joint_states[0].name)
    elbow = np.array([it.position[names.index(ELBOW)] for it in client.joint_states])
    assert elbow.min() < elbow[0] - 0.2
    measured = [it for it in figures if "latency max [ms]" in it]
    assert measured
    assert float(measured[-1]["rate [Hz]"]) > 20.0
    assert measured[-1]["lost"] == "0"
