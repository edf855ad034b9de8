"""Disabling the motors of a bus that somebody else has opened and can't use any more."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Final

from humanoid_devices_can.bus import Bus, CanFrame, DataFrame, OpenBus
from humanoid_devices_can.errors import CanBusError, QueueFullError
from humanoid_devices_can.guard.job import GuardJob

LONGEST: Final = 3.0  # [s] until it is given up
RETRY: Final = 0.05  # [s] between two attempts
LEAST_ROUNDS: Final = 3  # a frame may be lost
QUIET: Final = 0.05  # [s] of silence that tell it was obeyed: motors send every 10 ms at most
ROOM: Final = 0.002  # [s] until a full queue is tried again


Clock = Callable[[], float]
Work = Generator[float, None, str]  # steps, each with the time [s] until the next: a problem


def disable_motors(
    job: GuardJob, open_bus: OpenBus, clock: Clock, longest: float = LONGEST
) -> Work:
    """Send the job's frames again and again, until no motor speaks any more.

    What went wrong, in words; empty if nothing. Never raises a CanBusError.
    """
    deadline, problem = clock() + longest, ""
    while True:
        try:
            problem = yield from _disable_once(job, open_bus(job.bus), clock, deadline)
        except CanBusError as error:
            problem = str(error)
        if not problem or clock() > deadline:
            return problem
        yield RETRY


def _disable_once(job: GuardJob, bus: Bus, clock: Clock, deadline: float) -> Work:
    rounds = 0
    try:
        while True:
            for frame in job.frames:
                if not (yield from _send(frame, bus, clock, deadline)):
                    return "the adapter takes no frames: is the bus powered?"
            rounds += 1
            quiet = yield from _are_quiet(job.voices, bus, clock)
            if quiet and rounds >= LEAST_ROUNDS:
                return ""
            if clock() > deadline:
                return "motors still speak"
    finally:
        bus.close()


def _send(frame: CanFrame, bus: Bus, clock: Clock, deadline: float) -> Generator[float, None, bool]:
    """Whether the adapter took it."""
    while clock() < deadline:
        try:
            bus.send(frame)
        except QueueFullError:
            bus.receive(0.0)  # where the adapter's answers are that make room
            yield ROOM
        else:
            return True
    return False


def _are_quiet(voices: tuple[int, ...], bus: Bus, clock: Clock) -> Generator[float, None, bool]:
    """Whether the motors are; strangers and error frames may go on."""
    heard = clock()
    end = heard + 2.0 * QUIET
    while True:
        received = bus.receive(0.0)
        now = clock()
        if isinstance(received, DataFrame) and (not voices or received.identifier in voices):
            heard = now
        elif now - heard >= QUIET:
            return True
        if now >= end:
            return False
        if received is None:
            yield ROOM
