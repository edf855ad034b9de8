"""The guard of the CAN bus as a simulated process, and the claim on the bus."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from humanoid_control_common.machine.machine import Machine
from humanoid_devices_can.bus.bus import BusSettings, OpenBus
from humanoid_devices_can.errors import InterfaceError
from humanoid_devices_can.guard.channel import GOOD_BYE, MEMORY_BYTES, GuardJob, GuardMemory
from humanoid_devices_can.guard.claim import TIMEOUT, Claim
from humanoid_devices_can.guard.guard_process import parting
from humanoid_devices_can.guard.stall_detection import guard
from humanoid_stepped.scheduler import Flag, Process
from humanoid_stepped.stepped_machine import SteppedMachine

NAME: Final = "can guard"
_PERIOD: Final = 0.02  # [s] between two attempts at a claim


class SteppedGuard:
    """A guard in a process of its own. See RunningGuard.

    Args:
        guarded: the control process.
        machine: the guard's.
    """

    def __init__(
        self, job: GuardJob, guarded: Process, machine: SteppedMachine, open_bus: OpenBus
    ) -> None:
        self.memory = GuardMemory(bytearray(MEMORY_BYTES))
        self.process = machine.process
        self.exit_code: int | None = None
        control = _Guarded(guarded, machine)

        def run() -> None:
            self.exit_code = guard(job, self.memory, control, open_bus, machine.clock)
            self.process.ended = True

        self._control = control
        self._task = machine.start("guard", run)

    def end(self) -> None:
        """See RunningGuard."""
        self._control.say_good_bye()
        self._task.join(parting(self.memory))
        if self._task.is_alive():
            self.process.killed = True

    def leave(self) -> None:
        """See RunningGuard."""
        self._control.leave()


class _Guarded:
    """The control process for its guard. See ControlProcess."""

    def __init__(self, process: Process, machine: SteppedMachine) -> None:
        self.last: bytes | None = None
        self._process, self._machine = process, machine
        self._news = Flag()

    def wait(self, seconds: float) -> None:
        """See ControlProcess."""
        if self.last is not None:
            self._machine.sleep(seconds)
            return
        self._machine.wait(self._news, seconds)
        if self.last is None and self._process.gone:
            self.last = b""

    def leave(self) -> None:
        """End without a good-bye."""
        self.last = self.last or b""
        self._news.set()

    def say_good_bye(self) -> None:
        """Write the good-bye of the control process."""
        self.last = self.last or GOOD_BYE
        self._news.set()


class Claims:
    """The holders of the bus: a control process, and its guard until it has ended."""

    def __init__(self) -> None:
        self._holders: list[Process] = []

    def of_process(self, process: Process) -> Callable[[BusSettings, Machine], Claim]:
        """Return the function by which `process` claims a bus."""

        def claim(bus: BusSettings, machine: Machine) -> Claim:
            deadline = machine.clock() + TIMEOUT
            while any(not it.gone for it in self._holders):
                if machine.clock() > deadline:
                    raise InterfaceError(f"{bus}: another process drives its motors already")
                machine.sleep(_PERIOD)
            self._holders = [process]
            return _Claim(self._holders, process)

        return claim

    def inherit(self, process: Process) -> None:
        """Let the guard hold the bus, too."""
        self._holders.append(process)


class _Claim:
    """See Claim."""

    def __init__(self, holders: list[Process], process: Process) -> None:
        self._holders, self._process = holders, process

    def fileno(self) -> int:
        """See Claim: there is no descriptor."""
        return -1

    def close(self) -> None:
        """See Claim."""
        self._holders.remove(self._process)
