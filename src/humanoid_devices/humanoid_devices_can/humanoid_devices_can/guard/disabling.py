"""Disable the motors of a bus whose control process no longer serves it."""

from collections.abc import Callable
from typing import Final

from humanoid_devices_can.bus.bus import Bus, CanFrame, DataFrame, OpenBus
from humanoid_devices_can.errors import CanBusError, QueueFullError
from humanoid_devices_can.guard.channel import GuardJob

LONGEST: Final = 3.0  # [s] until the guard gives up
RETRY: Final = 0.05  # [s] between two attempts
LEAST_ROUNDS: Final = 3  # a frame may be lost
QUIET: Final = 0.05  # [s] of silence that confirm it: enabled motors send every 10 ms
ROOM: Final = 0.002  # [s] until a full queue is tried again


Clock = Callable[[], float]
Wait = Callable[[float], None]  # for so long [s]


def disable_motors(
    job: GuardJob, open_bus: OpenBus, clock: Clock, wait: Wait, longest: float = LONGEST
) -> str:
    """Send the job's frames repeatedly until no motor sends any more.

    Return the failure in words, empty if there is none. Never raises a CanBusError.
    """
    deadline, problem = clock() + longest, ""
    while True:
        try:
            problem = _disable_once(job, open_bus(job.bus), clock, wait, deadline)
        except CanBusError as error:
            problem = str(error)
        if not problem or clock() > deadline:
            return problem
        wait(RETRY)


def _disable_once(job: GuardJob, bus: Bus, clock: Clock, wait: Wait, deadline: float) -> str:
    rounds = 0
    try:
        while True:
            for frame in job.frames:
                if not _send(frame, bus, clock, wait, deadline):
                    return "the adapter takes no frames: is the bus powered?"
            rounds += 1
            quiet = _are_quiet(job.feedback_identifiers, bus, clock, wait)
            if quiet and rounds >= LEAST_ROUNDS:
                return ""
            if clock() > deadline:
                return "motors still send"
    finally:
        bus.close()


def _send(frame: CanFrame, bus: Bus, clock: Clock, wait: Wait, deadline: float) -> bool:
    """Send a frame; return whether the adapter accepted it."""
    while clock() < deadline:
        try:
            bus.send(frame)
        except QueueFullError:
            bus.receive(0.0)  # the adapter's answers in it make room
            wait(ROOM)
        else:
            return True
    return False


def _are_quiet(identifiers: tuple[int, ...], bus: Bus, clock: Clock, wait: Wait) -> bool:
    """Return whether the motors send nothing; frames of others and error frames don't count."""
    latest = clock()
    end = latest + 2.0 * QUIET
    while True:
        received = bus.receive(0.0)
        now = clock()
        if isinstance(received, DataFrame) and (
            not identifiers or received.identifier in identifiers
        ):
            latest = now
        elif now - latest >= QUIET:
            return True
        if now >= end:
            return False
        if received is None:
            wait(ROOM)
