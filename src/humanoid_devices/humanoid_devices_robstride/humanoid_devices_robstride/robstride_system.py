"""The Robstride motors of one CAN bus as a hardware component."""

from humanoid_devices_can.can_system import CanSystem
from humanoid_devices_robstride.robstride_family import ROBSTRIDE


class RobstrideSystem(CanSystem):
    """The joints of one <ros2_control> block, each a Robstride motor.

    A motor disables itself when the host is silent for its joint's `can_timeout`; with 0 it keeps
    its last command.
    """

    kind = ROBSTRIDE
