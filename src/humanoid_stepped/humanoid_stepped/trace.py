"""The events of a trial, in order: topics, log, frames of all buses, and the joints."""

from __future__ import annotations

import hashlib
from typing import Any, Final

from humanoid_stepped.robot import SteppedRobot
from humanoid_twin.can.frame import CanFrame

# It names folders of this machine.
_NOT_TRACED: Final = "/robot_description"


class Trace:
    """A digest of all outputs of a robot: equal digests mean bitwise equal runs."""

    def __init__(self, robot: SteppedRobot) -> None:
        self._robot, self._digest = robot, hashlib.sha256()
        robot.bus.listeners.append(self._message)
        robot.log.append(self._logged)
        if robot.cable is not None:
            robot.cable.listeners.append(self._ring_frame)
        robot.virtual.listen(self._can_frame)

    def digest(self) -> str:
        """Return the digest so far, with the present state of the joints."""
        found = self._digest.copy()
        for values in (self._robot.virtual.plant.position, self._robot.virtual.plant.velocity):
            found.update(values.tobytes())
        return found.hexdigest()

    def _message(self, topic: str, message: Any) -> None:
        if topic != _NOT_TRACED:
            self._add(topic, str(message).encode())

    def _logged(self, node: str, severity: str, text: str) -> None:
        self._add(f"{node} {severity}", text.encode())

    def _ring_frame(self, frame: bytes) -> None:
        self._add("ring", frame)

    def _can_frame(self, bus: str, frame: CanFrame, now: int) -> None:
        self._add(f"{bus} {now} {frame.identifier:x}", frame.data)

    def _add(self, kind: str, content: bytes) -> None:
        # While the virtual robot moves on, its time is ahead of the scheduler's.
        self._digest.update(f"{self._robot.virtual.robot.now} {kind} ".encode())
        self._digest.update(content)
