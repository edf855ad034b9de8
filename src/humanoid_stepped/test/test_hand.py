"""Servo controllers on the whole robot: Hand with its boards and tendons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from humanoid_control_msgs.srv import LoadController
from std_msgs.msg import Float64MultiArray
from test_support.controllers import write_controllers
from test_support.stepped.own_remote import ask
from test_support.stepped.stack import Stack

from humanoid_control_common.rules.modes import Mode

EXAMPLE = Path(__file__).parents[3] / "docs/examples/servo_hand.yaml"
NAME = "finger_controller"
SIDES = ("left", "right")
COMMON = {
    "fallback_controllers": ["damping_controller", "zero_torque_controller"],
    "joints": [f"{side}_finger_j{number}" for side in SIDES for number in (3, 2, 1)],
    "coupled_joints": {
        f"{side}_finger_j0": [f"{side}_finger_j1", f"{side}_finger_j2"]
        for side in ("left", "right")
    },
    "max_force": 0.4,
    "friction_deadband": 0.005,
}
VELOCITY = {"p": 0.005, "i": 0.3, "i_clamp": 0.2}
POSITION = {"p": 0.12, "i": 0.1, "d": 0.004, "i_clamp": 0.05}
# Parameters, commands of left j3, left j0, right j3, right j0.
KINDS: dict[str, tuple[dict[str, Any], list[float]]] = {
    "Effort": ({}, [0.12, 0.08, 0.12, 0.08]),
    "Velocity": ({"gains": VELOCITY}, [0.3, 0.3, 0.3, 0.3]),
    "Position": ({"gains": POSITION}, [0.6, 1.0, 0.5, 0.9]),
    "MixedPositionVelocity": ({"gains": VELOCITY}, [0.6, 1.0, 0.5, 0.9]),
}


@pytest.fixture(scope="module")
def hand(tmp_path_factory: pytest.TempPathFactory) -> Stack:
    """Hand in DAMPING."""
    folder = tmp_path_factory.mktemp("hand")
    hand = Stack(folder, robot="hand", controllers_file=write_controllers(folder, 0.3, "hand"))
    hand.up()
    hand.damped()
    return hand


def fingers(hand: Stack) -> np.ndarray:
    """Angles [rad] of j3 and j0, left, then right."""
    now = {name: it["position"] for name, it in hand.control.joints().items()}
    return np.array(
        [
            angle
            for side in SIDES
            for angle in (
                now[f"{side}_finger_j3"],
                now[f"{side}_finger_j1"] + now[f"{side}_finger_j2"],
            )
        ]
    )


def commanded_by(hand: Stack, file: Path) -> Any:
    """Load the controller of `file` and start it; return the publisher of its commands."""
    request = LoadController.Request(file=str(file))
    answer = ask(hand, LoadController, "/controller_manager/load_file", request)
    assert answer.success, answer.message
    hand.enter(Mode.STANDBY)
    hand.client.until(hand.has_finished_standby, "the ready pose")
    hand.enter(Mode.REMOTE)
    return hand.client.node.create_publisher(Float64MultiArray, f"/{NAME}/commands", 4)


def test_standby_and_damping_are_held(hand: Stack) -> None:
    """Also by the boards of j2, which have no motor: their effort is 0 whatever is commanded."""
    hand.enter(Mode.STANDBY)
    hand.pass_time(5.0)
    assert hand.client.now.mode == Mode.STANDBY, hand.client.now.status_message
    hand.enter(Mode.DAMPING)
    hand.pass_time(2.0)
    assert hand.client.now.status_message == ""


@pytest.mark.parametrize("kind", KINDS)
def test_each_servo_controller_moves_the_fingers(hand: Stack, kind: str, tmp_path: Path) -> None:
    """No finger falls; positions are reached, velocities and efforts bend the fingers."""
    more, commands = KINDS[kind]
    own = {"type": f"humanoid_control/{kind}Controller", **COMMON, **more}
    file = tmp_path / "fingers.yaml"
    file.write_text(yaml.safe_dump({NAME: {"ros__parameters": own}}))
    publisher = commanded_by(hand, file)
    before = fingers(hand)
    publisher.publish(Float64MultiArray(data=commands))
    hand.pass_time(0.8 if kind == "Velocity" else 2.5)
    after = fingers(hand)
    assert hand.client.now.mode == Mode.REMOTE, hand.client.now.status_message
    if "Position" in kind:
        np.testing.assert_allclose(after, commands, atol=0.12)
    else:
        assert (after - before > 0.1).all()


def test_the_example_keeps_the_fingers_below_its_speed(hand: Stack) -> None:
    publisher = commanded_by(hand, EXAMPLE)
    before, fastest = fingers(hand), 0.0
    for targets in ([0.6, 1.2, 0.3, 0.8], [0.3, 0.5, 0.9, 1.5], [1.2, 2.2, 0.4, 1.0]):
        publisher.publish(Float64MultiArray(data=targets))
        for _ in range(300):
            hand.pass_time(0.01)
            now = fingers(hand)
            fastest = max(fastest, float(np.abs(now - before).max() / 0.01))
            before = now
        np.testing.assert_allclose(before, targets, atol=0.12)
    assert 0.7 < fastest < 1.0  # [rad/s]
