"""The surroundings of a plug-in's ROS side.

The ROS side is a function `attach(context, plugin) -> listener | None`, registered as an entry
point of the group `humanoid_control.ros` under the plug-in's own name. It runs once, after
`on_configure`. Callbacks of subscriptions and services run in the executor's thread, the listener
in the publisher's thread. Neither may touch values of the loop's thread except through LatestValue.
"""

from collections.abc import Callable
from dataclasses import dataclass

from builtin_interfaces.msg import Time
from rclpy.node import Node

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.loop.snapshot import Snapshot, SnapshotListener
from humanoid_controller_manager.ros.topics.message_template import time_of

__all__ = ["PluginContext", "SnapshotListener"]


@dataclass(frozen=True, slots=True)
class PluginContext:
    """The surroundings of one plug-in."""

    node: Node  # named after the controller; `controller_manager` for hardware components
    robot: RobotFacts  # with the joints that the controller claims; the listener gets the same
    now: Callable[[], float]  # the loop's time [s]
    stamp_ns: Callable[[Snapshot], int]  # ROS time of a tick [ns]
    # Reports to the hardware components that the joint states of a tick are published.
    published: Callable[[Snapshot], None] = lambda snapshot: None
    simulated: bool = False  # whether the loop's time differs from the system's
    machine: Machine = LINUX  # the clocks of the process

    def stamp(self, snapshot: Snapshot) -> Time:
        """Return the ROS time of a tick."""
        return time_of(self.stamp_ns(snapshot))
