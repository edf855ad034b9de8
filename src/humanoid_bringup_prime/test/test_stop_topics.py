"""The operator's stop over the topics of the middleware, for every QoS of the publisher."""

from __future__ import annotations

from typing import Any, Final

import pytest
from humanoid_control_msgs.msg import ControlMode, SafetyStatus
from humanoid_control_msgs.srv import ClearFault
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import Bool
from test_support.operator import LATCHED

STOP: Final = "/emergency_stop"
PUBLISHERS: Final = {
    "reliable": QoSProfile(depth=1),
    "unreliable": QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT),
    "latched": QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL),
}
CLEAR: Final = "/mode_manager/clear_fault"


@pytest.fixture
def stiff(start_control: Any, client: Any) -> Any:
    """An operator of a robot in STANDBY, and its latched reports."""
    start_control()
    client.connect()
    client.reports = {}
    client.listen(
        SafetyStatus,
        "/safety_status",
        lambda report: client.reports.update({report.source: report}),
        LATCHED,
    )
    client.until(lambda: "emergency_stop" in client.reports, "the first report")
    back_to_standby(client)
    return client


def back_to_standby(client: Any) -> None:
    client.reach(ControlMode.DAMPING)
    client.reach(ControlMode.STANDBY)


def is_stopped(client: Any, why: str) -> bool:
    report = client.reports["emergency_stop"]
    return bool(
        client.now.mode == ControlMode.DAMPING
        and why in client.now.status_message
        and (report.level, report.message) == (SafetyStatus.CRITICAL, why)
    )


def test_a_single_publication_stops_the_robot_until_it_is_cleared(stiff: Any) -> None:
    why = "emergency stop (/emergency_stop)"
    for name, qos in PUBLISHERS.items():
        topic = stiff.node.create_publisher(Bool, STOP, qos)
        stiff.until(topic.get_subscription_count, "the mode manager")
        topic.publish(Bool(data=False))
        stiff.next_statements()
        assert stiff.now.mode == ControlMode.STANDBY
        topic.publish(Bool(data=True))
        stiff.until(lambda: is_stopped(stiff, why), f"a stop by a {name} publisher")
        topic.publish(Bool(data=False))
        stiff.request(ControlMode.STANDBY)
        assert stiff.now.mode == ControlMode.DAMPING
        stiff.node.destroy_publisher(topic)
        assert stiff.call(CLEAR, ClearFault).success
        stiff.until(
            lambda: stiff.reports["emergency_stop"].level == SafetyStatus.OK, "the stop is released"
        )
        back_to_standby(stiff)
