"""Raise the left elbow of Prime in REMOTE, lower it again, and end in DAMPING.

Before: `hc up mujoco`, and in a second shell (`source env.sh`) `hc mode damp`,
`hc mode load --wait`, `hc mode remote`. Then: `python docs/examples/raise_an_elbow.py`.
"""

import sys
import time

import numpy as np
import rclpy
from humanoid_control_msgs.msg import ControlMode, MITCommand
from rclpy.node import Node

CONTROLLER = "remote_policy_controller"  # another one of REMOTE takes no such commands
JOINT, ANGLE, SPEED = "left_elbow_pitch", -0.6, 0.4  # [rad] from the held position, [rad/s]
RATE = 50.0  # [Hz]; a stream without a command for 0.1 s is stale
HOLD = 1.0  # [s]
TIMEOUT = 10.0  # [s] longest wait for REMOTE, and for DAMPING at the end


class RaiseElbow(Node):
    """Publish a command for all joints at each step. Only one joint moves; the others are held."""

    def __init__(self) -> None:
        super().__init__("raise_an_elbow")
        self.begin = self.held = self.mode = self.start = None
        self.controller = ""
        self.commands = self.create_publisher(MITCommand, f"/{CONTROLLER}/command", 1)
        self.requests = self.create_publisher(ControlMode, "/control_mode", 10)
        self.create_subscription(MITCommand, "/prime/joint_commands", self.on_command, 1)
        self.create_subscription(ControlMode, "/control_mode", self.on_mode, 10)
        self.create_timer(1.0 / RATE, self.step)

    def on_command(self, message: MITCommand) -> None:
        """Store the command in force. The ramp starts there: measured angles hang below it."""
        self.held = message

    def on_mode(self, message: ControlMode) -> None:
        """Store the mode in force."""
        if not message.controller_name:  # without a name the message is a request
            return
        if self.mode is None and message.mode != ControlMode.REMOTE:
            self.get_logger().info("waiting for REMOTE: hc mode remote")
        self.mode, self.controller = message.mode, message.controller_name

    @property
    def missing(self) -> str:
        """Return the missing condition for the start, with a remedy; empty: it can start."""
        if self.mode is None:
            return "no robot answers: start one (`hc up mujoco`) with the same ROS_DOMAIN_ID"
        if self.mode != ControlMode.REMOTE:
            return "the robot is not in REMOTE: `hc status` tells why, `hc mode remote` requests it"
        if self.controller != CONTROLLER:
            return (
                f"REMOTE is {self.controller}: `hc mode damp`, `hc load {CONTROLLER}`, then again"
            )
        return "" if self.held else "/prime/joint_commands is silent: `hc status` tells why"

    @property
    def left(self) -> bool:
        """Return True if REMOTE was in force and has ended."""
        return self.begin is not None and self.mode != ControlMode.REMOTE

    def step(self) -> None:
        """Send the next command."""
        if self.held is None or (self.mode, self.controller) != (ControlMode.REMOTE, CONTROLLER):
            return
        if self.begin is None:
            self.begin, self.start = time.monotonic(), np.array(self.held.position)
            self.get_logger().info(f"raising {JOINT}")
        now, way = time.monotonic() - self.begin, abs(ANGLE) / SPEED
        target = self.start.copy()  # a ramp up, a pause, and the same ramp down
        joint = self.held.joint_names.index(JOINT)
        target[joint] += ANGLE * np.clip(min(now, 2 * way + HOLD - now) / way, 0.0, 1.0)
        count = len(target)
        self.commands.publish(
            MITCommand(
                joint_names=self.held.joint_names,  # all joints, in the robot's order
                position=target.tolist(),
                velocity=[0.0] * count,
                effort=[0.0] * count,
                stiffness=[20.0] * count,  # an eRob always has the stiffness of the mode
                damping=[2.0] * count,
            )
        )
        if now > 2 * way + HOLD:  # commands continue until DAMPING is in force
            self.requests.publish(ControlMode(mode=ControlMode.DAMPING))


def main() -> None:
    """Run until REMOTE has ended, or a wait has lasted for TIMEOUT."""
    rclpy.init()
    node = RaiseElbow()
    deadline = time.monotonic() + TIMEOUT
    while node.begin is None:
        rclpy.spin_once(node, timeout_sec=0.1)
        if node.begin is None and time.monotonic() > deadline:
            sys.exit(f"no motion within {TIMEOUT:g} s: {node.missing}")
    length = 2 * abs(ANGLE) / SPEED + HOLD
    while not node.left:
        rclpy.spin_once(node, timeout_sec=0.1)
        if time.monotonic() - node.begin > length + TIMEOUT:
            sys.exit("DAMPING was requested and is not in force: `hc status` tells why, `hc stop`")
    done = time.monotonic() - node.begin > length
    sys.exit(None if done else "REMOTE was left too early: `hc status` tells why")


if __name__ == "__main__":
    main()
