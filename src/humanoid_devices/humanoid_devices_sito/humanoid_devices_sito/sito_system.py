"""The Sito motors of one CAN bus as a hardware component."""

from __future__ import annotations

from humanoid_devices_can.bus import OpenBus, PythonCanBus
from humanoid_devices_can.can_system import CanSystem
from humanoid_devices_can.timing import Timing
from humanoid_devices_sito.sito_family import SITO


class SitoSystem(CanSystem):
    """The joints of one <ros2_control> block, each a Sito motor with MIT firmware.

    These motors have no watchdog that the documents know of: if the host fails they keep the set
    point and gains they had last. A guard disables them if the process fails; nobody does if the
    computer or the adapter fails.
    """

    def __init__(self, timing: Timing | None = None, open_bus: OpenBus = PythonCanBus) -> None:
        super().__init__(SITO, timing, open_bus)
