"""Topics of the operator's stop: who may stop, who must be there, and what is said about it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from builtin_interfaces.msg import Time
from humanoid_control_msgs.msg import SafetyStatus
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Bool, String

from humanoid_control_common.safety import SafetyReport
from humanoid_controllers.emergency_stop import EmergencyStop

STOP_TOPIC: Final = "/emergency_stop"
HEARTBEAT_TOPIC: Final = "/emergency_stop/heartbeat"
# A reliable subscription hears no unreliable publisher, and an unreliable one may miss a message.
_RELIABLE: Final = QoSProfile(depth=10)
_ANY: Final = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
_LATCHED: Final = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)


class StopTopics:
    """Hands stops and heartbeats to `stop`, and publishes its report when it changes.

    Args:
        now: the time by which heartbeats are judged [s].
        stamp: ROS time of now.
        pressed: called after each stop.
        heartbeats: whether anybody's heartbeat is waited for.
    """

    def __init__(
        self,
        node: Node,
        stop: EmergencyStop,
        *,
        now: Callable[[], float],
        stamp: Callable[[], Time],
        pressed: Callable[[], None],
        heartbeats: bool,
    ) -> None:
        self._stop, self._now, self._stamp, self._pressed = stop, now, stamp, pressed
        self._published: SafetyReport | None = None
        self._reports = node.create_publisher(SafetyStatus, "/safety_status", _LATCHED)
        for qos in (_RELIABLE, _ANY):
            node.create_subscription(Bool, STOP_TOPIC, self._on_stop, qos)
        if heartbeats:
            node.create_subscription(String, HEARTBEAT_TOPIC, self._on_heartbeat, _ANY)

    def press(self, door: str) -> None:
        """Stop; `door` is where the wish came in."""
        self._stop.press(door)
        self._pressed()

    def pressed(self, now: float) -> bool:
        """Whether a stop holds at `now` [s]."""
        return bool(self._stop.problem(now))

    def publish(self) -> None:
        """Publish the report if it changed."""
        report = self._stop.report(self._now())
        if report == self._published:
            return
        self._published = report
        message = SafetyStatus(
            level=int(report.level), source=report.source, message=report.message
        )
        message.header.stamp = self._stamp()
        self._reports.publish(message)

    def _on_stop(self, message: Bool) -> None:
        if message.data:  # false lets go of nothing: only clear_fault does
            self.press(STOP_TOPIC)

    def _on_heartbeat(self, message: String) -> None:
        self._stop.beat(message.data, self._now())
