"""The guard's task: detect a control loop that stands still, and disable the motors."""

import logging
from typing import Final

from humanoid_devices_can.bus.bus import OpenBus
from humanoid_devices_can.guard.channel import ControlProcess, GuardJob, GuardMemory, Stage
from humanoid_devices_can.guard.disabling import Clock, disable_motors

CHECK_PERIOD: Final = 0.02  # [s] between two checks
STANDS_STILL: Final = "the control loop stands still, or has lost the adapter"
IS_GONE: Final = "the control process is gone"
LEAST_CHECKS: Final = 4  # without news; after a hold-up of the machine the guard may run first

logger = logging.getLogger("can guard")


class StallDetector:
    """Judges from successive checks whether the control loop stands still. Times in [s]."""

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self._fed, self._since, self._checks = 0.0, 0.0, 0

    def stands_still(self, fed: float, now: float) -> bool:
        """Return whether a loop that has fed the guard `fed` times by `now` stands still.

        0 times: the loop has not begun, or has ended in order. After a hold-up of the machine,
        LEAST_CHECKS without news are needed: the guard may run before the loop does.
        """
        if fed != self._fed:
            self._fed, self._since, self._checks = fed, now, 0
        self._checks += 1
        overdue = now - self._since > self._timeout
        return fed > 0.0 and overdue and self._checks > LEAST_CHECKS


def guard(
    job: GuardJob, memory: GuardMemory, process: ControlProcess, open_bus: OpenBus, clock: Clock
) -> int:
    """Guard until a good-bye, or until the motors are disabled; return the exit code."""
    told = ""
    while True:
        reason = _watch(memory, StallDetector(job.timeout), process, clock)
        if not reason:
            return 0
        problem = _act(job, memory, process, open_bus, clock)
        if not problem:
            logger.critical("%s: %s", reason, _outcome(job, memory))
            return 0
        text = f"{reason}, and not disabled: {job.names}: {problem}"
        if text != told:  # an adapter may be missing for long
            told = text
            logger.critical("%s", text)
        if reason == IS_GONE:
            return 1
        # The stalled process may hold the adapter until it ends, or run again and fail again.


def _act(
    job: GuardJob, memory: GuardMemory, process: ControlProcess, open_bus: OpenBus, clock: Clock
) -> str:
    """Disable the motors and return the failure; the memory shows the outcome in any case."""
    outcome = Stage.FAILED
    memory.set_stage(Stage.ACTS, clock())
    try:
        problem = disable_motors(job, memory, process, open_bus, clock)
        if not problem:
            outcome = Stage.DONE
    finally:
        memory.set_stage(outcome, clock())
    return problem


def _outcome(job: GuardJob, memory: GuardMemory) -> str:
    if not memory.waited:
        return f"disabled {job.names}"
    proved = [memory.has_proved(motor) for motor in range(len(job.motors))]
    pairs = list(zip(job.motors, proved, strict=True))
    found = ", ".join(motor.name for motor, is_proved in pairs if is_proved)
    lost = ", ".join(motor.name for motor, is_proved in pairs if not is_proved)
    return f"disabled {found or 'no motor'}" + (f"; silent, may be enabled: {lost}" * bool(lost))


def _watch(
    memory: GuardMemory, detector: StallDetector, process: ControlProcess, clock: Clock
) -> str:
    """Watch until the guard must act and return the reason; empty after a good-bye."""
    while process.last is None:
        now = clock()
        memory.mark_alive(now)
        if detector.stands_still(memory.fed, now):
            return STANDS_STILL
        process.wait(CHECK_PERIOD)
    return "" if process.last else IS_GONE
