"""Threads as loops around steps, which a scheduler of all time can call as well."""

from __future__ import annotations

import threading
from collections.abc import Generator
from typing import Final, Protocol, TypeVar

from humanoid_controller_manager.realtime import COMPANION_PRIORITY, make_thread_realtime

Result = TypeVar("Result")
Steps = Generator[float, None, None]  # each step tells after how long [s] the next one is due


class Worker(Protocol):
    """What carries out steps beside its maker."""

    def is_alive(self) -> bool:
        """Whether there are steps left."""

    def join(self) -> None:
        """Return after the last step."""


class Workers(Protocol):
    """Has steps carried out, each when it is due, or earlier if a bell rings."""

    def start(self, name: str, steps: Steps, bell: threading.Event) -> Worker:
        """Carry out `steps` beside the caller. Raises RuntimeError if that can't be."""

    def carry_out(self, steps: Generator[float, None, Result]) -> Result:
        """Carry out `steps` here and now: what they return."""


class Threads:
    """One thread for each."""

    def start(self, name: str, steps: Steps, bell: threading.Event) -> Worker:
        """See Workers."""
        thread = threading.Thread(target=_run, args=(steps, bell), name=name, daemon=True)
        thread.start()
        return thread

    def carry_out(self, steps: Generator[float, None, Result]) -> Result:
        """See Workers."""
        never = threading.Event()
        while True:
            try:
                never.wait(next(steps))
            except StopIteration as end:
                result: Result = end.value
                return result


THREADS: Final[Workers] = Threads()


def _run(steps: Steps, bell: threading.Event) -> None:
    # Else another process could keep a motor from its command while the loop is on time; and a
    # thread begins with the priority of the loop where that started it.
    make_thread_realtime(COMPANION_PRIORITY)
    for wait in steps:
        if wait:
            bell.wait(wait)
            bell.clear()  # before the next step, which sees what it rang for
