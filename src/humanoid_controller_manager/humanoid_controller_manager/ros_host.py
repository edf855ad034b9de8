"""What the ROS side of a plugin is given, and what it gives back.

A plugin's ROS side is a function `attach(host, plugin) -> listener | None`, registered as an entry
point of the group `humanoid_control.ros` under the plugin's own name. It runs once, after
`on_configure`. Callbacks of subscriptions and services run in the executor's thread, the listener
in the publisher's thread; neither may touch what the loop's thread uses except through mailboxes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from builtin_interfaces.msg import Time
from rclpy.node import Node

from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.snapshot import Snapshot, SnapshotListener

__all__ = ["RosHost", "SnapshotListener"]


@dataclass(frozen=True, slots=True)
class RosHost:
    """The surroundings of one plugin."""

    node: Node  # named after the controller; `controller_manager` for hardware components
    robot: RobotFacts
    now: Callable[[], float]  # the loop's time [s]
    stamp: Callable[[Snapshot], Time]  # ROS time of a tick
    # Tells the hardware components that the joint states of a tick went out.
    published: Callable[[Snapshot], None] = lambda snapshot: None
    simulated: bool = False  # the loop's time does not pass as the system's does
