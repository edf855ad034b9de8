"""Python's logging of the simulated processes, with the process that logs."""

from __future__ import annotations

import logging
from typing import Self

from humanoid_stepped.robot import SteppedRobot


class PythonLog(logging.Handler):
    """Passes what the stack logs through Python to the robot's log, while it is open."""

    def __init__(self, robot: SteppedRobot) -> None:
        super().__init__(logging.INFO)
        self._robot, self._level = robot, logging.WARNING

    def __enter__(self) -> Self:
        root = logging.getLogger()
        self._level = root.level
        root.setLevel(logging.INFO)
        root.addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        root = logging.getLogger()
        root.removeHandler(self)
        root.setLevel(self._level)

    def emit(self, record: logging.LogRecord) -> None:
        """See logging.Handler."""
        task = self._robot.scheduler.current
        process = "scheduler" if task is None else task.process.name
        text = self.format(record)
        for log in self._robot.log:
            log(process, record.levelname.lower(), text)
