"""QoS of topics."""

from typing import Final

from rclpy.qos import DurabilityPolicy, QoSProfile

# A late subscriber gets the latest message, too.
LATCHED: Final = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# For subscribers that need every message: a depth counts those of all publishers together, such as
# the one of each source on /safety_status.
LATCHED_HISTORY: Final = QoSProfile(depth=64, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# Messages kept between two polls of the viewer: half a second, when no browser is open, at 1 kHz.
STREAM: Final = QoSProfile(depth=500)
