"""Quality of service of the topics that are shown."""

from rclpy.qos import DurabilityPolicy, QoSProfile

# Messages kept between two looks: half a second, when no browser is open, at 1 kHz.
STREAM = QoSProfile(depth=500)
LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
# A message per safety source, and a subscriber's depth counts those of all publishers together.
LATCHED_PER_SOURCE = QoSProfile(depth=64, durability=DurabilityPolicy.TRANSIENT_LOCAL)
