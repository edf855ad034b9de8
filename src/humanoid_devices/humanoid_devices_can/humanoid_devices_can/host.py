"""The parts of the computer that a component on a CAN bus needs."""

from collections.abc import Callable
from dataclasses import dataclass

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine
from humanoid_devices_can.bus.bus import BusSettings, OpenBus
from humanoid_devices_can.bus.opening import open_bus
from humanoid_devices_can.guard.channel import GuardJob
from humanoid_devices_can.guard.claim import Claim, claim
from humanoid_devices_can.guard.guard_process import GuardProcess, RunningGuard


@dataclass(frozen=True, slots=True, kw_only=True)
class CanHost:
    """The computer: this one, unless a test or the stepped robot simulates parts of it."""

    machine: Machine = LINUX
    open_bus: OpenBus = open_bus
    claim: Callable[[BusSettings, Machine], Claim] = claim
    # Starts the guard without waiting until it runs. Raises OSError.
    start_guard: Callable[[GuardJob, Claim | None], RunningGuard] = GuardProcess
