"""The operator's stop from a terminal: pressed until the mode manager says that it holds."""

from __future__ import annotations

from typing import Any, Final

from humanoid_control_msgs.msg import SafetyStatus
from std_msgs.msg import Bool, String

from humanoid_control_cli.client import Client
from humanoid_control_cli.domain import ros_domain
from humanoid_control_cli.errors import NoAnswerError
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_cli.statements import Statement
from humanoid_control_cli.status import LATCHED
from humanoid_control_common.modes import SAFE_MODES

STOP_TOPIC: Final = "/emergency_stop"
HEARTBEAT_TOPIC: Final = "/emergency_stop/heartbeat"
SOURCE: Final = "emergency_stop"
AGAIN: Final = 0.05  # [s] until it is pressed once more
BEAT_PERIOD: Final = 0.1  # [s]


def press(client: Client) -> Statement:
    """Stop the robot. Returns what is in force then, DAMPING or ZERO_TORQUE.

    Raises NoAnswerError if nobody listens, or no safe mode is stated.
    """
    modes = ModeClient(client)
    levels: dict[str, int] = {}

    def note(report: Any) -> None:
        levels[report.source] = report.level

    def holds() -> bool:
        safe = modes.latest is not None and modes.latest.mode in SAFE_MODES
        return safe and levels.get(SOURCE) == SafetyStatus.CRITICAL

    client.subscribe(SafetyStatus, "/safety_status", note, LATCHED)
    topic = client.node.create_publisher(Bool, STOP_TOPIC, 10)
    if not client.wait(topic.get_subscription_count, client.timeout):
        raise _not_stopped(f"nobody listens on {STOP_TOPIC} within {client.timeout:g} s")
    for _ in range(max(1, round(client.timeout / AGAIN))):
        topic.publish(Bool(data=True))
        if client.wait(holds, AGAIN):
            assert modes.latest is not None
            return modes.latest
    state = f"in force is {modes.latest}" if modes.latest else "no mode is stated"
    raise _not_stopped(f"sent, but not confirmed within {client.timeout:g} s; {state}")


def keep_beating(client: Client, name: str) -> None:
    """Send the heartbeat of `name` for ever; Ctrl-C comes as KeyboardInterrupt."""
    topic = client.node.create_publisher(String, HEARTBEAT_TOPIC, 10)
    while True:
        topic.publish(String(data=name))
        client.wait(lambda: False, BEAT_PERIOD)


def _not_stopped(reason: str) -> NoAnswerError:
    return NoAnswerError(
        f"NOT STOPPED: {reason} (ROS_DOMAIN_ID {ros_domain()}): use the emergency stop that cuts "
        "the power"
    )
