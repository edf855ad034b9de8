"""QoS of topics whose latest message a late subscriber gets, too."""

from typing import Final

from rclpy.qos import DurabilityPolicy, QoSProfile

LATCHED: Final = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# For subscribers that need every message: a depth counts those of all publishers together, such as
# the one of each source on /safety_status.
LATCHED_HISTORY: Final = QoSProfile(depth=64, durability=DurabilityPolicy.TRANSIENT_LOCAL)
