"""Node `still_model`: a robot description and joints that stand still, for display without a robot.

Its topics are in a namespace of their own, apart from a robot's.
"""

from typing import Final

from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from humanoid_control_common.configuration.node_parameters import FixedParameters, fixed
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.middleware.qos_profiles import LATCHED
from humanoid_viz.state.urdf import parse_urdf


class StillModelNode(FixedParameters, Node):  # type: ignore[misc]  # rclpy counts as untyped
    """Publishes `robot_description` once and `prime/joint_states`, all zero, again and again.

    Raises ConfigError if parameter `robot_description` is no URDF, or is published where a real
    robot's would be.
    """

    period: Final = 0.1  # [s]; viewers take a second without joint states for a lost connection

    def __init__(self) -> None:
        super().__init__("still_model", start_parameter_services=False)
        if self.get_namespace() == "/":
            raise ConfigError("still_model: the root namespace is the robot's, expected another")
        urdf = self.declare_parameter("robot_description", "", fixed("The robot's URDF.")).value
        self._names = list(parse_urdf(urdf).moving_joints)
        self._description = self.create_publisher(String, "robot_description", LATCHED)
        self._description.publish(String(data=urdf))
        self._states = self.create_publisher(JointState, "prime/joint_states", 10)

    def step(self) -> None:
        """Publish the joints."""
        zeros = [0.0] * len(self._names)
        message = JointState(name=self._names, position=zeros, velocity=zeros, effort=zeros)
        message.header.stamp = self.get_clock().now().to_msg()
        self._states.publish(message)
