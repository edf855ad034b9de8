"""Simulated processes: started, held up, killed and started again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from humanoid_controller_manager.ros.process.end_requests import EndRequests
from humanoid_controller_manager.ros.process.ros_session import exit_code
from humanoid_stepped.ros.session import SteppedSession
from humanoid_stepped.scheduler import NEVER, Process

KILLED: Final = -9  # exit code, as of kill -9
Run = Callable[[SteppedSession, EndRequests], int]  # the main function; returns the exit code


class StackProcess:
    """One program of the stack.

    Args:
        label: its name in the plan of the bring-up.
        session: returns a new session for a process.
        run: its main function.
    """

    def __init__(self, label: str, session: Callable[[Process], SteppedSession], run: Run) -> None:
        self.label = label
        self.code: int | None = None  # exit code of the latest run; None while it runs, or before
        self.error: BaseException | None = None  # that ended the latest run
        self.on_end: list[Callable[[], None]] = []  # called when a run has ended, however
        self._new_session, self._run = session, run
        self.session: SteppedSession | None = None  # of the present run
        self.requests = EndRequests()

    @property
    def runs(self) -> bool:
        """Return whether it runs, or is held up."""
        return self.session is not None

    def start(self) -> None:
        """Start it, if it does not run."""
        if self.runs:
            return
        self.code, self.error, self.requests = None, None, EndRequests()
        session = self.session = self._new_session(Process(self.label))
        requests = self.requests

        def main() -> None:
            try:
                code = exit_code(lambda: self._run(session, requests))
            except BaseException as error:
                self.error, code = error, 1
            session.close()
            session.machine.process.ended = True
            self._ended(code)

        session.machine.start("main", main)

    def hold(self) -> None:
        """Stop the process, as SIGSTOP does."""
        if self.session is not None:
            self.session.machine.process.held_until = NEVER

    def resume(self) -> None:
        """Let it run again."""
        if self.session is not None:
            self.session.machine.process.held_until = 0

    def kill(self) -> None:
        """End it at once: nothing of it runs any more."""
        session = self.session
        if session is not None:
            session.machine.process.killed = True
            session.close()
            self._ended(KILLED)

    def _ended(self, code: int) -> None:
        self.session, self.code = None, code
        for function in self.on_end:
            function()
