"""The example of a servo controller on the wrists of Prime, at the rate of the robot's loop."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from humanoid_control_msgs.srv import LoadController
from std_msgs.msg import Float64MultiArray
from test_support.stepped.own_remote import ask
from test_support.stepped.stack import Stack

from humanoid_control_common.rules.modes import Mode

EXAMPLE: Final = Path(__file__).parents[3] / "docs/examples/servo_wrists.yaml"
WRISTS: Final = ("left_wrist_roll", "left_wrist_pitch", "right_wrist_roll", "right_wrist_pitch")
TARGETS: Final = (0.3, 0.2, -0.3, 0.2)  # [rad]


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
    publisher.publish(Float64MultiArray(data=TARGETS))
    fastest = 0.0
    for _ in range(100):
        prime.pass_time(0.04)
        speeds = [abs(prime.control.joints()[name]["velocity"]) for name in WRISTS]
        fastest = max(fastest, *speeds)
    assert prime.client.now.mode == Mode.REMOTE, prime.client.now.status_message
    assert fastest < 1.0  # [rad/s]; the controller travels at 0.5
    reached = [prime.control.joints()[name]["position"] for name in WRISTS]
    np.testing.assert_allclose(reached, TARGETS, atol=0.02)
    assert max(speeds) < 0.1  # at rest
