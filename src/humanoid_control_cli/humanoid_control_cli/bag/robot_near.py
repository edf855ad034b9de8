"""Whether a robot is up on this ROS domain, on whatever machine."""

from __future__ import annotations

from typing import Final

from rclpy.node import Node

from humanoid_control_cli.domain import ros_domain
from humanoid_control_cli.errors import RefusedError
from humanoid_recording.topics import JOINT_STATES

# The nodes of a robot that act on topics; a replay must not be what they hear.
_NODES: Final = frozenset({"controller_manager", "mode_manager", "erob_impedance_manager"})


def sign_of_robot(node: Node) -> str:
    """What tells of a robot; empty if nothing does, as far as `node` has discovered."""
    for name in node.get_node_names():
        if name in _NODES:
            return f"node {name} is running"
    for publisher in node.get_publishers_info_by_topic(JOINT_STATES):
        if publisher.node_name != node.get_name():
            return f"node {publisher.node_name} publishes {JOINT_STATES}"
    return ""


def refuse_beside(sign: str) -> None:
    """Raises RefusedError if `sign` tells of a robot."""
    if sign:
        raise RefusedError(
            f"a robot is up on ROS_DOMAIN_ID {ros_domain()} ({sign}): replaying there would mix "
            "with what it says; use a domain of its own: `ROS_DOMAIN_ID=99 hc replay …`"
        )
