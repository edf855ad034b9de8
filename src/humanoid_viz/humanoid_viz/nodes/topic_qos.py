"""The quality of service of the topics that the viewer's nodes use."""

from typing import Final

from rclpy.qos import DurabilityPolicy, QoSProfile

# Messages kept between two polls: half a second, when no browser is open, at 1 kHz.
STREAM: Final = QoSProfile(depth=500)
LATCHED: Final = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# A message per safety source, and a subscriber's depth counts those of all publishers together.
LATCHED_PER_SOURCE: Final = QoSProfile(depth=64, durability=DurabilityPolicy.TRANSIENT_LOCAL)
