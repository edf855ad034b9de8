"""Node `status_marker`: mode and safety as text above the robot, for rviz."""

import time
from typing import Final

from humanoid_control_msgs.msg import ControlMode, SafetyStatus
from rclpy.node import Node
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker

from humanoid_control_common.configuration.node_parameters import FixedParameters, fixed
from humanoid_control_common.middleware.polled_topic import PolledTopic
from humanoid_control_common.middleware.qos_profiles import LATCHED_HISTORY, STREAM
from humanoid_viz.state.message_rates import Arrivals
from humanoid_viz.state.state import ModeInForce, SafetyReport, SafetyReports, Statement
from humanoid_viz.state.status_text import StatusText, status_text

TOPIC: Final = "prime/status_marker"
LETTER_HEIGHT: Final = 0.06  # [m]


class StatusMarkerNode(FixedParameters, Node):  # type: ignore[misc]  # rclpy counts as untyped
    """Shows statements of the mode manager and reports of the safety sources.

    Parameters: the text is `height` [m] above the origin of `frame`.
    """

    period: Final = 0.2  # [s]

    def __init__(self) -> None:
        super().__init__("status_marker", start_parameter_services=False)
        frame = fixed("Frame above whose origin the text is.")
        self._frame = self.declare_parameter("frame", "world", frame).value
        height = fixed("Height of the text above the frame [m].")
        self._height = self.declare_parameter("height", 1.8, height).value
        self._modes = PolledTopic(self, ControlMode, "control_mode", STREAM)
        self._safety = PolledTopic(self, SafetyStatus, "safety_status", LATCHED_HISTORY)
        self._markers = self.create_publisher(Marker, TOPIC, 1)
        self._statement: Statement | None = None
        self._arrivals = Arrivals()
        self._reports = SafetyReports()

    def step(self) -> None:
        """Take new messages, and publish the present state."""
        for message, arrival in self._modes.take_all():
            if message.controller_name:  # else it is a request
                self._arrivals.add([arrival])
                self._statement = Statement(
                    message.mode,
                    message.controller_name,
                    message.status_message,
                    tuple(message.reason_codes),
                )
        for status, _ in self._safety.take_all():
            self._reports.put(
                SafetyReport(status.source, status.level, status.flags, status.message)
            )
        now = time.monotonic()
        mode = ModeInForce(self._arrivals.flow(now), self._statement, self._arrivals.age(now))
        self._markers.publish(self._marker(status_text(mode, self._reports)))

    def _marker(self, status: StatusText) -> Marker:
        red, green, blue, alpha = status.colour
        marker = Marker(
            ns="status", type=Marker.TEXT_VIEW_FACING, action=Marker.ADD, text=status.text
        )
        # No time stamp: wherever the frame is now.
        marker.header.frame_id = self._frame
        marker.pose.position.z = self._height
        marker.pose.orientation.w = 1.0
        marker.scale.z = LETTER_HEIGHT
        marker.color = ColorRGBA(r=red, g=green, b=blue, a=alpha)
        return marker
