"""A bare rclpy node that answers mode requests.

python -m benchmarks.support.peers.mode_responder REQUEST_TOPIC REPLY_TOPIC
"""

from __future__ import annotations

import sys

import rclpy
from humanoid_control_msgs.msg import ControlMode
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions


def main() -> None:
    """Answer until a signal."""
    request_topic, reply_topic = sys.argv[1:]
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = Node("bare_responder", start_parameter_services=False, enable_rosout=False)
    replies = node.create_publisher(ControlMode, reply_topic, 10)
    count = 0

    def answer(request: ControlMode) -> None:
        nonlocal count
        count += 1
        replies.publish(ControlMode(mode=request.mode, controller_name="bare", switch_number=count))

    node.create_subscription(ControlMode, request_topic, answer, 10)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        executor.spin()
    finally:
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
