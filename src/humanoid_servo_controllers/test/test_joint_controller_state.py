"""The topics of control_msgs, one for each joint."""

from __future__ import annotations

import pytest

pytest.importorskip(
    "control_msgs.msg", reason="control_msgs is not installed: no state of single joints here"
)
from control_msgs.msg import JointControllerState
from std_msgs.msg import Float64MultiArray

from humanoid_servo_controllers.controllers import PositionController
from src.humanoid_servo_controllers.test.test_topics import Side


def test_each_joint_has_a_topic_with_its_state() -> None:
    side = Side(PositionController)
    found: list[JointControllerState] = []
    side.node.create_subscription(JointControllerState, "~/tip/state", found.append, 10)
    side.commands.publish(Float64MultiArray(data=[0.5, -1.0]))
    side.efforts([1.0, -2.0])
    side.spin_until(lambda: bool(side.tick()) and bool(found))
    side.close()
    assert found[-1] == JointControllerState(
        header=found[-1].header,
        set_point=-1.0,
        error=1.0,  # process_value - set_point
        time_step=0.001,
        command=-2.0,
        p=2.0,
        antiwindup=True,
    )
