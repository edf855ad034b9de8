"""A bare rclpy publisher of the message that the control process publishes.

python -m benchmarks.support.peers.joint_state_publisher TOPIC RATE
"""

from __future__ import annotations

import sys
import time

import numpy as np
import rclpy
from builtin_interfaces.msg import Time
from rclpy.clock import Clock, ClockType
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

JOINT_COUNT = 14


def main() -> None:
    """Publish at a fixed rate until a signal."""
    topic, rate = sys.argv[1], float(sys.argv[2])
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    node = Node("bare_publisher", start_parameter_services=False, enable_rosout=False)
    publisher = node.create_publisher(JointState, topic, 10)
    names = [f"right_shoulder_joint_{i}" for i in range(JOINT_COUNT)]
    values = np.linspace(-1.0, 1.0, JOINT_COUNT)

    def publish() -> None:
        message = JointState(name=names)
        now = time.time_ns()
        message.header.stamp = Time(sec=now // 1_000_000_000, nanosec=now % 1_000_000_000)
        message.position = values.tolist()
        message.velocity = values.tolist()
        message.effort = values.tolist()
        publisher.publish(message)

    node.create_timer(1.0 / rate, publish, clock=Clock(clock_type=ClockType.STEADY_TIME))
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    try:
        executor.spin()
    finally:
        rclpy.try_shutdown()


if __name__ == "__main__":
    main()
