"""Disable the motors of a bus whose control process no longer serves it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from humanoid_devices_can.bus.bus import Bus, DataFrame, OpenBus
from humanoid_devices_can.bus.error_frames import ControllerState
from humanoid_devices_can.bus.sending import ROOM, send_with_room
from humanoid_devices_can.errors import CanBusError, QueueFullError
from humanoid_devices_can.guard.channel import ControlProcess, GuardJob, GuardMemory
from humanoid_devices_can.guard.disabled_proof import Observation

LONGEST: Final = 3.0  # [s] until the guard gives up
RETRY: Final = 0.05  # [s] between two attempts
LEAST_ROUNDS: Final = 3  # a frame may be lost
QUIET: Final = 0.05  # [s] of silence that confirm it: enabled motors send every 10 ms
FULL: Final = 0.3  # [s] the adapter's queue may be full until the bus is opened again


Clock = Callable[[], float]


def disable_motors(
    job: GuardJob,
    memory: GuardMemory,
    process: ControlProcess,
    open_bus: OpenBus,
    clock: Clock,
    longest: float = LONGEST,
) -> str:
    """Send the job's frames repeatedly until all motors are disabled, as far as they show it.

    Return the failure in words, empty if there is none; `memory` has the motors that have proved
    it. A control process that says good-bye opens the bus itself: no attempt follows then. Never
    raises a CanBusError.
    """
    deadline, problem = clock() + longest, ""
    while True:
        try:
            problem = _disable_once(job, memory, open_bus(job.bus), clock, process.wait, deadline)
        except CanBusError as error:
            problem = str(error)
        if not problem or clock() > deadline or process.last:
            return problem
        memory.note_wait()
        process.wait(RETRY)


def _disable_once(
    job: GuardJob,
    memory: GuardMemory,
    bus: Bus,
    clock: Clock,
    wait: Callable[[float], None],
    deadline: float,
) -> str:
    seen, rounds = Observation([motor.proof for motor in job.motors], clock()), 0
    # An adapter that is held up does not show at its opening that it confirms.
    confirms = bus.set_confirming(True) or job.confirms
    try:
        if memory.waited:  # frames received before, in another session, prove nothing now
            _listen(bus, seen, QUIET, seen.all_heard, clock, wait)
        while True:
            for frame in job.frames:
                send_with_room(bus, frame, min(clock() + FULL, deadline), clock, wait)
            rounds += 1
            seen.ordered(clock())
            _listen(bus, seen, 2.0 * QUIET, lambda: seen.silence() >= QUIET, clock, wait)
            problem = _problem(job, seen, bus.confirmed if confirms else seen.drained)
            if bus.state() is ControllerState.OFF:
                problem = f"{job.bus}: bus-off"
            if not problem and rounds >= LEAST_ROUNDS:
                memory.note_proved(seen.proved())
                return ""
            if clock() > deadline:
                return problem
    finally:
        bus.close()


def _listen(
    bus: Bus,
    seen: Observation,
    longest: float,
    is_over: Callable[[], bool],
    clock: Clock,
    wait: Callable[[float], None],
) -> None:
    """Receive for `longest` [s] at most. Error frames do not count."""
    end = clock() + longest
    while True:
        asked = clock()
        received = bus.receive(0.0)
        now = clock()
        if received is None:
            seen.found_empty(asked)
        else:
            seen.received(now)
        if isinstance(received, DataFrame):
            seen.take(received.identifier, now)
        if now >= end or is_over():
            return
        if received is None:
            with suppress(QueueFullError):
                bus.ask()
            wait(ROOM)


def _problem(job: GuardJob, seen: Observation, certain: float) -> str:
    """Return what speaks against a success; `certain` [s]: see Bus."""
    if sending := seen.sending(seen.drained, QUIET):
        return f"{_named(job, sending)}: it still sends"
    if unanswered := seen.unanswered():
        return f"{_named(job, unanswered)}: no answer that it is disabled"
    if seen.sending(certain, QUIET):
        return f"{job.bus}: the adapter is held up"
    return ""


def _named(job: GuardJob, motors: Sequence[int]) -> str:
    return ", ".join(job.motors[motor].name for motor in motors)
