"""The client of `hc`'s commands on a stepped robot: its waits let simulated time pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

from humanoid_control_cli.client import Client
from humanoid_stepped.participant import Participant
from humanoid_stepped.robot import SteppedRobot


class SteppedClient(Client):
    """See Client."""

    def __init__(self, robot: SteppedRobot, timeout: float = 10.0) -> None:
        self._own = Participant(robot, "hc")
        self.node, self.timeout = self._own.node, timeout
        self._callers = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._own.close()

    def clock(self) -> float:
        """See Client."""
        return self._own.clock()

    def wait(self, condition: Callable[[], object], timeout: float) -> bool:
        """See Client."""
        deadline = self.clock() + timeout
        while not condition():
            if self.clock() >= deadline:
                return False
            self._own.spin()
        return True
