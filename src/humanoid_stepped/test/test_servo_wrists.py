"""The example of a servo controller on the wrists of Prime, at the rate of the robot's loop."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import pytest
from humanoid_control_msgs.srv import LoadController
from std_msgs.msg import Float64MultiArray
from test_support.stepped.own_remote import ask
from test_support.stepped.stack import Stack

from humanoid_control_common.rules.modes import Mode

EXAMPLE: Final = Path(__file__).parents[3] / "docs/examples/servo_wrists.yaml"
WRISTS: Final = ("left_wrist_roll", "left_wrist_pitch", "right_wrist_roll", "right_wrist_pitch")
TARGETS: Final = (0.5, 0.5, -0.5, 0.5)  # [rad]
SPEED: Final = 0.5  # [rad/s] of the example


def test_the_example_moves_the_wrists_at_its_speed_and_holds_them(prime: Stack) -> None:
    request = LoadController.Request(file=str(EXAMPLE))
    answer = ask(prime, LoadController, "/controller_manager/load_file", request)
    assert answer.success, answer.message
    prime.enter(Mode.STANDBY)
    prime.client.until(prime.has_finished_standby, "the ready pose")
    prime.enter(Mode.REMOTE)
    publisher = prime.client.node.create_publisher(
        Float64MultiArray, "/wrist_controller/commands", 4
    )
    publisher.publish(Float64MultiArray(data=[-it for it in TARGETS]))
    prime.pass_time(3.0)  # the compensation of gravity begins within a second
    publisher.publish(Float64MultiArray(data=TARGETS))
    rows = []
    for _ in range(200):
        prime.pass_time(0.02)
        now = prime.control.joints()
        rows.append([(now[name]["position"], now[name]["velocity"]) for name in WRISTS])
    assert prime.client.now.mode == Mode.REMOTE, prime.client.now.status_message
    positions, velocities = np.moveaxis(np.array(rows), 2, 0)
    part = 0.5 + 0.5 * positions / TARGETS  # of the way
    for column in range(len(WRISTS)):
        travelling = (part[:, column] > 0.25) & (part[:, column] < 0.6)
        speeds = np.abs(velocities[travelling, column])
        assert speeds.mean() == pytest.approx(SPEED, rel=0.05), WRISTS[column]
    assert np.abs(velocities).max() < 1.15 * SPEED
    np.testing.assert_allclose(positions[-1], TARGETS, atol=0.02)
    assert np.abs(velocities[-1]).max() < 0.1  # at rest
