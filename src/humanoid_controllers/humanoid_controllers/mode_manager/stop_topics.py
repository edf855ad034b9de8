"""Topics of the operator's stop: stops, heartbeats and the safety report."""

from collections.abc import Callable
from typing import Final

from builtin_interfaces.msg import Time
from humanoid_control_msgs.msg import SafetyStatus
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from std_msgs.msg import Bool, String

from humanoid_control_common.middleware.qos_profiles import LATCHED
from humanoid_control_common.rules.safety import SafetyReport
from humanoid_controller_manager.ros.topics.safety_messages import safety_message
from humanoid_controllers.mode_manager.emergency_stop import EmergencyStop

STOP_TOPIC: Final = "emergency_stop"
HEARTBEAT_TOPIC: Final = "emergency_stop/heartbeat"
# Deep enough that messages which do not stop push no stop out, and no heartbeat another one.
DEPTH: Final = 100
# A reliable subscription receives nothing of a best-effort publisher, and a best-effort one may
# miss a message: stops are received by both.
_RELIABLE: Final = QoSProfile(depth=DEPTH)
_BEST_EFFORT: Final = QoSProfile(depth=DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)


class StopTopics:
    """Passes stops and heartbeats to `stop`, and publishes its report when it changes.

    Args:
        now: the time by which heartbeats are judged [s].
        stamp: ROS time of now.
        pressed: called after each stop.
        heartbeats: whether any heartbeat is required.
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
        self._topic = node.resolve_topic_name(STOP_TOPIC)  # as the report names it
        self._reports = node.create_publisher(SafetyStatus, "safety_status", LATCHED)
        for qos in (_RELIABLE, _BEST_EFFORT):
            node.create_subscription(Bool, STOP_TOPIC, self._on_stop, qos)
        if heartbeats:
            node.create_subscription(String, HEARTBEAT_TOPIC, self._on_heartbeat, _BEST_EFFORT)

    def publish(self) -> None:
        """Publish the report if it changed."""
        report = self._stop.report(self._now())
        if report != self._published:
            self._published = report
            self._reports.publish(safety_message(report, self._stamp()))

    def _on_stop(self, message: Bool) -> None:
        if message.data:  # false does not release: only clear_fault does
            self._stop.press(self._topic)
            self._pressed()

    def _on_heartbeat(self, message: String) -> None:
        self._stop.beat(message.data, self._now())
