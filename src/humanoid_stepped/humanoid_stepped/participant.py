"""A node of a test among the robot's nodes, and waits in simulated time."""

from __future__ import annotations

from typing import Any, Final

from humanoid_stepped.robot import SteppedRobot
from humanoid_stepped.scheduler import Process

CHECK_PERIOD: Final = 0.01  # [s] between two checks of a condition


class Participant:
    """A process with one node, whose callbacks are executed while time passes."""

    def __init__(self, robot: SteppedRobot, name: str) -> None:
        session = robot.session(Process(name))
        self.machine = session.machine
        self.node: Any = session.node(name, services=False)
        executor = session.executor()
        executor.add_node(self.node)
        self.machine.start("callbacks", lambda: _execute(executor))

    def clock(self) -> float:
        """Return the time of the waits [s]."""
        return self.machine.clock()

    def spin(self) -> None:
        """Let time pass."""
        self.machine.sleep(CHECK_PERIOD)

    def close(self) -> None:
        """End the process."""
        self.node.destroy_node()
        self.machine.process.killed = True


def _execute(executor: Any) -> None:
    while True:
        failure = executor.execute_next(None)
        if failure is not None:
            raise failure.error
