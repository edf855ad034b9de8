"""The ROS side of the policy controller: the thread of its inference, and topics."""

from typing import Final

import numpy as np
from geometry_msgs.msg import Twist
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Imu

from humanoid_control_common.robot.joints import FloatArray
from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_controller_manager.ros.topics.message_age import MessageAge, MessageInfo
from humanoid_controllers.policy.controller import RlPolicyController
from humanoid_controllers.policy.live_inputs import ImuSample, VelocityCommand
from humanoid_policy.observation.terms import Source, projected_gravity

NOT_GIVEN: Final = -1.0  # first element of a covariance, see sensor_msgs/Imu
UNIT: Final = 0.01  # largest difference of a quaternion's length to 1
# [m/s, rad/s], far beyond every robot. An observation has single precision: with larger numbers it,
# and so the action, may not be finite.
LARGEST: Final = 1e6


def attach_policy(context: PluginContext, controller: RlPolicyController) -> None:
    """Start the inference; subscribe to what the policy observes: `imu/data`, `~/velocity`.

    Simulated time waits for the inference: it may run much faster than the machine's.
    """
    side = PolicyRosSide(context, controller)
    node = context.node
    if Source.IMU in controller.sources:
        node.create_subscription(Imu, "imu/data", side.on_imu, qos_profile_sensor_data)
    if Source.VELOCITY in controller.sources:
        node.create_subscription(Twist, "~/velocity", side.on_velocity, 4)
    if context.simulated:
        controller.inference.at_once = True
    else:
        controller.inference.start(context.machine)


class PolicyRosSide:
    """Callbacks, in the executor's thread.

    The arrival of a message is that of MessageAge: one that an interrupted connection, or a busy
    process, held back is no fresh one.
    """

    def __init__(self, context: PluginContext, controller: RlPolicyController) -> None:
        self._context = context
        self._live = controller.live
        self._imu_age, self._velocity_age = MessageAge(), MessageAge()
        self._warn = context.node.get_logger().warning
        self._refused: set[str] = set()  # what was refused last, of the IMU and the commands

    def on_imu(self, message: Imu, info: MessageInfo) -> None:
        """Keep a valid message; log what is wrong with the first one that is not."""
        arrival = self._imu_age.arrival(info, self._context)
        turning, at = message.angular_velocity, message.orientation
        velocity = np.array([turning.x, turning.y, turning.z])
        orientation = np.array([at.x, at.y, at.z, at.w])
        problem = _imu_problem(message, velocity, orientation)
        if not self._accepted("message of the IMU", problem):
            return
        gravity = projected_gravity(orientation / np.linalg.norm(orientation))
        self._live.imu.put(ImuSample(velocity, gravity, arrival))

    def on_velocity(self, message: Twist, info: MessageInfo) -> None:
        """Keep a valid command; log what is wrong with the first one that is not."""
        arrival = self._velocity_age.arrival(info, self._context)
        linear, angular = message.linear, message.angular
        value = np.array([linear.x, linear.y, angular.z])
        problem = _numbers_problem(value)
        if linear.z or angular.x or angular.y:
            problem = "linear.z, angular.x and angular.y, expected 0: a policy walks in the plane"
        if self._accepted("velocity command", problem):
            self._live.velocity.put(VelocityCommand(value, arrival))

    def _accepted(self, what: str, problem: str) -> bool:
        """Return whether there is no problem; log the first one of several in a row."""
        if not problem:
            self._refused.discard(what)
        elif what not in self._refused:
            self._refused.add(what)
            self._warn(f"{what} refused: {problem}")
        return not problem


def _imu_problem(message: Imu, velocity: FloatArray, orientation: FloatArray) -> str:
    if NOT_GIVEN in (message.orientation_covariance[0], message.angular_velocity_covariance[0]):
        return "it has no orientation or no angular velocity (covariance -1), expected both"
    if problem := _numbers_problem(velocity):
        return f"angular velocity: {problem}"
    if not abs(float(np.linalg.norm(orientation)) - 1.0) <= UNIT:
        return f"orientation {orientation}, expected a quaternion of length 1"
    return ""


def _numbers_problem(values: FloatArray) -> str:
    """Return what is wrong with received numbers; empty if nothing is."""
    if (np.abs(values) <= LARGEST).all():
        return ""
    return f"found {values}, expected finite numbers up to {LARGEST:g}"
