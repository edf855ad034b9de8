"""Send one command to a servo controller: TOPIC and one number for each of its joints.

`python docs/examples/servo_command.py /wrist_controller/commands 0.3 0.2 -0.3 0.2`, in REMOTE, with
the controller of servo_wrists.yaml. `ros2 topic pub --once` does the same where it is installed.
"""

import sys

import rclpy
from std_msgs.msg import Float64MultiArray

TIMEOUT = 5.0  # [s] longest wait for the controller


def main() -> None:
    """Wait for the controller, send, and wait until the command has left."""
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    topic, *numbers = sys.argv[1:]
    rclpy.init()
    node = rclpy.create_node("servo_command")
    publisher = node.create_publisher(Float64MultiArray, topic, 4)
    deadline = node.get_clock().now().nanoseconds + TIMEOUT * 1e9
    while not publisher.get_subscription_count():
        if node.get_clock().now().nanoseconds > deadline:
            sys.exit(f"no controller takes {topic}: is it loaded? (hc load)")
        rclpy.spin_once(node, timeout_sec=0.05)
    publisher.publish(Float64MultiArray(data=[float(it) for it in numbers]))
    publisher.wait_for_all_acked()


if __name__ == "__main__":
    main()
