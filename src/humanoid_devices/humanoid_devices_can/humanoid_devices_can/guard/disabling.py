"""Disabling the motors of a bus that somebody else has opened and can't use any more."""

from __future__ import annotations

import time
from typing import Final

from humanoid_devices_can.bus import Bus, CanFrame, DataFrame, OpenBus
from humanoid_devices_can.errors import CanBusError, QueueFullError
from humanoid_devices_can.guard.job import GuardJob

LONGEST: Final = 3.0  # [s] until it is given up
RETRY: Final = 0.05  # [s] between two attempts
LEAST_ROUNDS: Final = 3  # a frame may be lost
QUIET: Final = 0.05  # [s] of silence that tell it was obeyed: motors send every 10 ms at most
ROOM: Final = 0.002  # [s] until a full queue is tried again


def disable_motors(job: GuardJob, open_bus: OpenBus, longest: float = LONGEST) -> str:
    """Send the job's frames again and again, until no motor speaks any more.

    What went wrong, in words; empty if nothing. Never raises a CanBusError.
    """
    deadline, problem = time.monotonic() + longest, ""
    while True:
        try:
            problem = _disable_once(job, open_bus(job.bus), deadline)
        except CanBusError as error:
            problem = str(error)
        if not problem or time.monotonic() > deadline:
            return problem
        time.sleep(RETRY)


def _disable_once(job: GuardJob, bus: Bus, deadline: float) -> str:
    rounds = 0
    try:
        while True:
            for frame in job.frames:
                if not _send(frame, bus, deadline):
                    return "the adapter takes no frames: is the bus powered?"
            rounds += 1
            quiet = _are_quiet(job.voices, bus)
            if quiet and rounds >= LEAST_ROUNDS:
                return ""
            if time.monotonic() > deadline:
                return "motors still speak"
    finally:
        bus.close()


def _send(frame: CanFrame, bus: Bus, deadline: float) -> bool:
    """Whether the adapter took it."""
    while time.monotonic() < deadline:
        try:
            bus.send(frame)
        except QueueFullError:
            bus.receive(ROOM)  # where the adapter's answers are that make room
        else:
            return True
    return False


def _are_quiet(voices: tuple[int, ...], bus: Bus) -> bool:
    """Whether the motors are; strangers and error frames may go on."""
    now = heard = time.monotonic()
    end = now + 2.0 * QUIET
    while now < end:
        received = bus.receive(max(heard + QUIET - now, 0.0))
        now = time.monotonic()
        if isinstance(received, DataFrame) and (not voices or received.identifier in voices):
            heard = now
        elif received is None or now - heard >= QUIET:
            return True
    return False
