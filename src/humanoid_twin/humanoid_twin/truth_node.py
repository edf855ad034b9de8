"""Node `truth`: the true motion of the virtual robot's joints on a topic, for display.

It polls the robot's process over the control channel. The stack must not read this topic, because
the real robot does not have it.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from threading import Event
from typing import Final

from rclpy.node import Node
from sensor_msgs.msg import JointState

from humanoid_control_common.configuration.node_parameters import FixedParameters, fixed
from humanoid_control_common.machine.output import printable
from humanoid_control_common.machine.stop_signals import ignore_stop_signals, stop_on_signals
from humanoid_control_common.middleware.ros_context import ros_node
from humanoid_twin.control.commands import JointTruth
from humanoid_twin.control.joint_client import JointClient
from humanoid_twin.errors import TwinError

TOPIC: Final = "twin/joint_states"
_PERIOD: Final = 0.02  # [s]


class TruthNode(FixedParameters, Node):  # type: ignore[misc]  # rclpy counts as untyped
    """The node; `control` is the path of the control channel, read once."""

    def __init__(self) -> None:
        super().__init__("truth", start_parameter_services=False)
        what = fixed("Path of the control channel of the virtual robot.")
        self.control: str = self.declare_parameter("control", "", what).value


def main(arguments: Sequence[str] | None = None) -> int:
    """Publish until SIGINT or SIGTERM. Return 1 without a robot, or if it ends.

    Parameter `control`: path of the control channel of the virtual robot.
    """
    stop = stop_on_signals()
    words = list(sys.argv if arguments is None else ["truth", *arguments])
    try:
        with ros_node(TruthNode, words) as node, JointClient(node.control) as control:
            publish_truth(node, control.joints, stop)
    except TwinError as error:
        sys.stderr.write(f"truth: {printable(str(error))}\n")
        return 1
    finally:
        ignore_stop_signals()
    return 0


def publish_truth(node: Node, joints: Callable[[], dict[str, JointTruth]], stop: Event) -> None:
    """Publish `joints()` at 50 Hz until `stop` is set. Raises the errors of `joints`."""
    publisher = node.create_publisher(JointState, TOPIC, 10)
    while not stop.wait(_PERIOD):
        publisher.publish(_message(node, joints().values()))


def _message(node: Node, joints: Iterable[JointTruth]) -> JointState:
    message = JointState()
    message.header.stamp = node.get_clock().now().to_msg()
    for joint in joints:
        message.name.append(joint["name"])
        message.position.append(joint["position"])
        message.velocity.append(joint["velocity"])
        message.effort.append(joint["torque"])
    return message


if __name__ == "__main__":
    sys.exit(main())
