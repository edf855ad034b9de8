"""The server of the joint stream on the stepped robot: its session and its watch, no network."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, TypeVar

from humanoid_controller_manager.ros.plugin_context import PluginContext
from humanoid_controller_manager.ros.process.end_requests import EndRequests
from humanoid_controller_manager.ros.process.ros_session import spin_until
from humanoid_joint_stream.controller import JointStreamController
from humanoid_joint_stream.server.node import HEARTBEAT, NODE, RosRobotLink
from humanoid_joint_stream.server.session import Session
from humanoid_joint_stream.shared.stream_file import StreamFile
from humanoid_stepped.processes import StackProcess
from humanoid_stepped.robot import SteppedRobot
from humanoid_stepped.ros.session import SteppedSession
from humanoid_stepped.scheduler import Flag

_T = TypeVar("_T")
TIMEOUT: Final = 1.0  # [s] a client waits for an answer
_FILES: Final[list[StreamFile]] = []  # of the controllers of this process, the latest is in use


def attach(_context: PluginContext, controller: JointStreamController) -> None:
    """Give the controller memory of its own: trials at the same time must not share it."""
    _FILES.append(StreamFile.in_memory(controller.facts))
    controller.connect(_FILES[-1], None)


class StreamServer:
    """A process that makes the calls of clients, one after the other, and looks at the robot."""

    def __init__(self, stepped: SteppedRobot) -> None:
        self.scheduler = stepped.scheduler
        self.file = _FILES[-1]
        self.process = StackProcess(NODE, stepped.session, self._run)
        self._calls = deque[Callable[[Session, int], object]]()
        self._called = Flag()
        self.process.on_end.append(self._calls.clear)  # its connections end with it

    def call(self, call: Callable[[Session, int], object]) -> None:
        """Send a call with session and time [ns] to the server; without a server it is lost."""
        if self.process.runs:
            self._calls.append(call)
            self._called.set()

    def answer(self, call: Callable[[Session, int], _T]) -> _T | None:
        """Return what a call returns; None: the server does not answer."""
        found, answered = list[_T](), Flag()

        def made(session: Session, now: int) -> None:
            found.append(call(session, now))
            answered.set()

        self.call(made)
        self.scheduler.wait(answered, TIMEOUT)
        return found[0] if found else None

    def _run(self, ros: SteppedSession, requests: EndRequests) -> int:
        machine, link = ros.machine, RosRobotLink(ros, ())
        session = Session(self.file, machine.clock_ns())

        def serve() -> None:
            while machine.wait(self._called):
                self._called.clear()
                while self._calls:
                    self._calls.popleft()(session, machine.clock_ns())

        def watch() -> None:
            while True:
                machine.sleep(HEARTBEAT)
                session.poll(link.situation, machine.clock_ns())

        machine.start("calls", serve)
        machine.start("watch", watch)
        spin_until(ros, link.node, lambda: requests.in_order or requests.at_once)
        return 0
