"""Clients of the joint stream on the stepped robot, and the connection to their server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any, Final

from fault_campaign.disturbing.stream import DAMPING, STIFFNESS
from fault_campaign.judging.observer import Observer
from fault_campaign.scenario import Wave
from fault_campaign.stepped.stream_server import StreamServer
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.status import Execution, Status
from humanoid_joint_stream.facts import SECOND
from humanoid_joint_stream.server.command_stream import CommandStream
from humanoid_joint_stream.server.session import Session
from humanoid_stepped.robot import SteppedRobot
from humanoid_stepped.scheduler import Process
from humanoid_stepped.stepped_machine import SteppedMachine

PERIOD: Final = 0.01  # [s]
HORIZON: Final = 0.15  # [s] of each command
FOLLOWS: Final = 1.0  # [s] until the robot follows
KEEPS: Final = 20  # updates between two calls that keep the lease
_PARTS: Final = 0.05  # [s] after the last update of a killed client its connection ends


class StreamClient:
    """A client, as a process of its own, that moves all joints around where they are.

    Args:
        token: of its lease, if it has one.
        first_key: of its commands; the keys of clients tell their commands apart.
    """

    def __init__(
        self,
        server: StreamServer,
        middle: Mapping[str, float],
        waves: Mapping[str, Wave],
        token: str = "",
        first_key: int = 1,
    ) -> None:
        self._server, self.token = server, token
        self._joints = server.file.facts.joints
        self._middle, self._waves = middle, waves
        self._keys = count(first_key)
        self.process = Process("stream_client")
        self.machine = SteppedMachine(server.scheduler, self.process)
        self.stream = CommandStream(server.file.facts, self.machine.clock_ns())
        self.horizon = HORIZON  # [s]
        self.silent = False  # whether it sends no update
        self.keeps = True  # its lease
        self.spoil: Callable[[Any], object] = lambda _update: None
        # Delays [s] of the copies of an update; none: it is lost.
        self.delays: Callable[[], Sequence[float]] = lambda: (0.0,)

    def acquire(self) -> bool:
        """Return whether it has the lease, after it has asked for it."""

        def acquired(session: Session, now: int) -> str:
            kept = session.has_lease(self.token, now)
            return self.token if kept else session.acquire_lease("campaign", now)

        self.token = self._server.answer(acquired) or ""
        return bool(self.token)

    def activate(self) -> Status:
        """Have its commands executed from now on; return the answer."""

        def activated(session: Session, now: int) -> Status:
            status, _ = session.readiness(self.token, now)
            if status is Status.OK:
                session.begin_activation(now)
            return status

        found = self._server.answer(activated)
        return Status.UNAVAILABLE if found is None else found

    def start(self) -> None:
        """Send updates from now on."""
        self.machine.start("stream", self._run)

    def die(self) -> None:
        """End at once. The server notices the end of the updates, then that of the connection."""
        self.process.killed = True
        stream, scheduler = self.stream, self._server.scheduler

        def parted() -> None:
            text = "the connection was lost"
            self._server.call(lambda it, _: it.close_stream(stream, Status.INACTIVE, text))

        self._server.call(lambda session, _: session.halt(stream))
        scheduler.call_at(scheduler.now + round(_PARTS * SECOND), parted)

    def _run(self) -> None:
        begin = self.machine.clock()
        for number in count():
            if not self.silent:
                self._send(self._update(self.machine.clock() - begin, first=number == 0))
            if self.keeps and number % KEEPS == 0:
                self._server.call(lambda session, now: session.has_lease(self.token, now))
            self.machine.sleep(PERIOD)

    def _update(self, elapsed: float, *, first: bool) -> Any:
        still = [0.0] * len(self._joints)
        update = pb.Update(
            end_time=self.machine.clock_ns() + round(self.horizon * SECOND),
            position=[self._middle[it] + self._waves[it].offset(elapsed) for it in self._joints],
            velocity=still,
            load=still,
            user_command_key=next(self._keys),
        )
        if first:
            update.gains.k_q_p.extend([STIFFNESS] * len(still))
            update.gains.k_qd_p.extend([DAMPING] * len(still))
        return update

    def _send(self, update: Any) -> None:
        self.spoil(update)
        stream, server = self.stream, self._server

        def receive(session: Session, now: int) -> None:
            if not stream.has_begun:
                stream.has_begun = True
                session.open_stream(stream, self.token, now)
            session.receive(stream, update, now)

        for delay in self.delays():
            at = server.scheduler.now + round(delay * SECOND)
            server.scheduler.call_at(at, lambda: server.call(receive))


class JointStream:
    """The server, and the client that the robot follows. Up after `begin`."""

    def __init__(
        self, stepped: SteppedRobot, observer: Observer, waves: Mapping[str, Wave]
    ) -> None:
        self._observer, self._waves = observer, waves
        self.server = StreamServer(stepped)
        self.client = self.another()

    @property
    def execution(self) -> Execution:
        """Return the state of execution from the robot's latest report."""
        return Execution(self.server.file.report().execution)

    def another(self, token: str = "", first_key: int = 1) -> StreamClient:
        """Return another client, of the pose measured now."""
        state = self._observer.joint_states[-1]
        middle = dict(zip(state.name, state.position, strict=True))
        return StreamClient(self.server, middle, self._waves, token, first_key)

    def begin(self) -> bool:
        """Start the server, if it does not run, and its client; return whether that is active."""
        within, client = self._observer.within, self.client
        self.server.process.start()
        within(FOLLOWS, client.acquire)
        # In a mode that has just begun the controller waits until its gains are confirmed.
        active = within(FOLLOWS, lambda: client.activate() is Status.OK)
        client.start()
        within(FOLLOWS, lambda: client.silent or self.execution is Execution.FOLLOWING)
        return active

    def replace_client(self) -> None:
        """End the client; another one has its lease, and has yet to begin."""
        self.client.die()
        self._observer.within(2 * _PARTS, lambda: False)
        self.client = self.another(self.client.token)

    def end(self) -> None:
        """End all of it at once."""
        self.client.process.killed = True
        self.server.process.kill()
