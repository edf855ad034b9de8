"""The Sito motors of one CAN bus as a hardware component."""

from humanoid_devices_can.can_system import CanSystem
from humanoid_devices_sito.sito_family import SITO


class SitoSystem(CanSystem):
    """The joints of one <ros2_control> block, each a Sito motor with MIT firmware.

    The documents mention no watchdog: if the host fails, the motors keep their last set point and
    gains. The guard disables them if the process fails. If the computer or the adapter fails, they
    stay enabled.
    """

    kind = SITO
