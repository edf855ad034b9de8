"""The answers of the server to its clients' calls."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import grpc

from humanoid_control_common.errors import RobotError
from humanoid_control_common.machine.output import printable
from humanoid_control_common.rules.modes import Intent, Mode, refused
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.status import Execution, Status
from humanoid_joint_stream.facts import SECOND, StreamFacts
from humanoid_joint_stream.server.command_stream import CommandStream
from humanoid_joint_stream.server.lease import TIMEOUT
from humanoid_joint_stream.server.mjcf import converted
from humanoid_joint_stream.server.robot_link import RobotLink
from humanoid_joint_stream.server.robot_states import default_decimation
from humanoid_joint_stream.server.session import (
    ACTIVATION_GRACE,
    ROBOT_FAULT,
    STATEMENT,
    Session,
    Situation,
)
from humanoid_joint_stream.server.state_hub import StateHub

SWITCHING: Final = 2.0  # [s] until the robot is in REMOTE; it confirms gains within 0.5 s
PARTING: Final = 0.05  # [s] in which a lost connection is noticed after its last update
CHECK_PERIOD: Final = 0.005  # [s] between two checks of the robot meanwhile
LARGEST_DECIMATION: Final = 10_000
MOST_READERS: Final = 24  # of states
MOST_ASKED: Final = 64  # states in one request
_REFUSED: Final = (refused(Intent.START_REMOTE).name,)


class Robot:
    """The parts of a running robot that calls need. Replaced as a whole with its process."""

    def __init__(self, session: Session, states: StateHub, link: RobotLink) -> None:
        self.session, self.states, self.link = session, states, link


class JointStreamService:
    """One method for each call of the .proto, by its name. All on one event loop.

    Args:
        robot: returns the robot; None while there is none.
        obstacle: returns why there is none, then.
        clock: the robot's clock [ns].
    """

    def __init__(
        self,
        robot: Callable[[], Robot | None],
        obstacle: Callable[[], str],
        clock: Callable[[], int],
    ) -> None:
        self._robot, self._obstacle, self._clock = robot, obstacle, clock
        self._activating = asyncio.Lock()
        self._converting = asyncio.Lock()
        self._model: tuple[str, Any] | None = None  # the latest URDF, and its MJCF

    def answers(self) -> dict[str, Callable[..., Any]]:
        """Return the function of each call by name."""
        calls = {
            "GetConfig": self._get_config,
            "GetDescription": self._get_description,
            "GetMjcf": self._get_mjcf,
            "SyncTime": self._sync_time,
            "AcquireLease": self._acquire_lease,
            "KeepLease": self._keep_lease,
            "ReturnLease": self._return_lease,
            "Activate": self._activate,
            "Deactivate": self._deactivate,
            "GetFeedback": self._get_feedback,
            "ListFaults": self._list_faults,
            "ClearFault": self._clear_fault,
        }
        found = {name: _of_messages(call) for name, call in calls.items()}
        return found | {
            "StreamCommands": self._stream_commands,
            "StreamStates": self._stream_states,
        }

    # What the robot is.

    async def _get_config(self, request: Any, context: grpc.aio.ServicerContext) -> Any:
        facts = (await self._needed(context)).session.file.facts
        decimation = default_decimation(facts.update_rate)
        return pb.Config(
            joints=[_joint(facts, row) for row in range(len(facts.joints))],
            update_rate=facts.update_rate,
            state_rate=facts.update_rate / decimation,
            max_horizon=facts.max_horizon,
            min_horizon=facts.min_horizon,
            activation_grace=ACTIVATION_GRACE,
            lease_timeout=TIMEOUT,
            mode_k_q_p=facts.stiffness,
            mode_k_qd_p=facts.damping,
            resume_after_expiry=facts.resume_after_expiry,
            velocity_safety_floor=facts.velocity_floor,
            ignore_unsupported=facts.ignore_unsupported,
            fallback=facts.fallback,
            robot_time=self._clock(),
        )

    async def _get_description(self, request: Any, context: grpc.aio.ServicerContext) -> Any:
        link = (await self._needed(context)).link
        return pb.Description(urdf=await asyncio.to_thread(link.description))

    async def _get_mjcf(self, request: Any, context: grpc.aio.ServicerContext) -> Any:
        robot = await self._needed(context)
        facts = robot.session.file.facts
        efforts = dict(zip(facts.joints, facts.effort, strict=True))
        try:
            async with self._converting:
                urdf = await asyncio.to_thread(robot.link.description)
                if self._model is None or self._model[0] != urdf:
                    self._model = urdf, await asyncio.to_thread(converted, urdf, efforts)
                return self._model[1]
        except RobotError as error:
            await context.abort(grpc.StatusCode.INTERNAL, str(error))

    async def _sync_time(self, request: Any, context: grpc.aio.ServicerContext) -> Any:
        received = self._clock()
        robot = self._robot()
        if request.lease and robot is not None:
            robot.session.has_lease(request.lease, received)
        return pb.TimeReply(
            client_send=request.client_send, server_receive=received, server_send=self._clock()
        )

    # Lease and activation.

    async def _acquire_lease(self, request: Any, context: grpc.aio.ServicerContext) -> Any:
        session = (await self._needed(context)).session
        with session.lock:
            token = session.acquire_lease(printable(request.owner[:200], ""), self._clock())
            status = Status.OK if token else Status.LEASE_TAKEN
            return pb.Lease(status=status, token=token, owner=session.lease.owner)

    async def _keep_lease(self, request: Any, context: grpc.aio.ServicerContext) -> Any:
        kept = (await self._needed(context)).session.has_lease(request.token, self._clock())
        return pb.Reply(status=Status.OK) if kept else _no_lease()

    async def _return_lease(self, request: Any, context: grpc.aio.ServicerContext) -> Any:
        session = (await self._needed(context)).session
        with session.lock:
            if not session.has_lease(request.token, self._clock()):
                return _no_lease()
            session.stop(Status.INACTIVE, "the lease was returned")
            session.lease.end()
            return pb.Reply(status=Status.OK)

    async def _activate(self, request: Any, context: grpc.aio.ServicerContext) -> Any:
        robot = await self._needed(context)
        async with self._activating:
            status, message = await self._activated(robot, request.lease)
            if status is not Status.OK:
                return pb.ActivateReply(status=status, message=message)
            return pb.ActivateReply(
                status=status, command_id=robot.session.begin_activation(self._clock())
            )

    async def _activated(self, robot: Robot, lease: str) -> tuple[Status, str]:
        """Bring the robot to REMOTE. Return what hinders it."""
        session, link = robot.session, robot.link
        status, message = session.readiness(lease, self._clock())
        if status is not Status.NOT_READY:
            return status, message
        before = await self._stated(link)
        if before.mode is not Mode.STANDBY:
            return Status.NOT_READY, f"requires a finished STANDBY (currently {before.name})"
        link.request(Mode.REMOTE)
        return await self._switched(robot, lease, before)

    async def _switched(self, robot: Robot, lease: str, before: Situation) -> tuple[Status, str]:
        """Wait for REMOTE, which was requested. Return what hinders it.

        Without a client that has it then, also if the call is cancelled, request DAMPING.
        """
        session, link = robot.session, robot.link
        requested = repeated = self._clock()
        deadline = requested + round(SWITCHING * SECOND)
        unattended = True
        try:
            while (time := self._clock()) < deadline:
                now = link.situation
                if now.mode is Mode.REMOTE and session.is_in_charge(time):
                    # The lease may have ended meanwhile.
                    if not session.has_lease(lease, time):
                        return Status.NO_LEASE, "it has ended meanwhile"
                    unattended = False
                    return Status.OK, ""
                # A refusal is stated until a request is accepted: another one may look the same.
                answered = now != before or time - requested > STATEMENT
                is_refused = answered and now.codes[:1] == _REFUSED
                if is_refused or now.mode not in (Mode.STANDBY, Mode.REMOTE):
                    unattended = False
                    break
                # A robot that has not discovered this server yet did not get the request.
                if now == before and time - repeated > STATEMENT:
                    link.request(Mode.REMOTE)
                    repeated = time
                await asyncio.sleep(CHECK_PERIOD)
            now = link.situation
        finally:
            if unattended:
                link.request(Mode.DAMPING)  # takes back a switch that is on its way
        if now.mode is Mode.REMOTE and session.has_left():
            return Status.NOT_READY, "REMOTE is another controller's: unload that by `hc unload`"
        return Status.NOT_READY, now.reason or f"the robot is in {now.name}"

    async def _stated(self, link: RobotLink) -> Situation:
        """Return the latest statement. A server that has just started waits for the first one."""
        deadline = self._clock() + round(SWITCHING * SECOND)
        while link.situation.mode is None and self._clock() < deadline:
            await asyncio.sleep(CHECK_PERIOD)
        return link.situation

    async def _deactivate(self, request: Any, context: grpc.aio.ServicerContext) -> Any:
        robot = await self._needed(context)
        session = robot.session
        if not session.has_lease(request.token, self._clock()):
            return _no_lease()
        session.stop(Status.INACTIVE, "deactivated")
        # An activation that is under way may have requested REMOTE.
        if not session.has_left() or self._activating.locked():
            robot.link.request(Mode.DAMPING)
        return pb.Reply(status=Status.OK)

    # Streams.

    async def _stream_commands(
        self, updates: AsyncIterator[Any], context: grpc.aio.ServicerContext
    ) -> Any:
        session = (await self._needed(context)).session
        loop, ended = asyncio.get_running_loop(), asyncio.Event()
        stream = CommandStream(
            session.file.facts, self._clock(), lambda: loop.call_soon_threadsafe(ended.set)
        )
        grace = loop.call_later(ACTIVATION_GRACE / SECOND, stream.end_unless_begun)
        reading = asyncio.create_task(self._read(session, stream, updates))
        try:
            await ended.wait()
        except asyncio.CancelledError:
            session.close_stream(stream, Status.INACTIVE, "the connection was lost")
            raise
        finally:
            grace.cancel()
            reading.cancel()
        assert stream.end is not None
        counters = _counters(session, stream)
        return pb.StreamEnd(status=stream.end.status, message=stream.end.message, counters=counters)

    async def _read(
        self, session: Session, stream: CommandStream, updates: AsyncIterator[Any]
    ) -> None:
        clock = self._clock
        try:
            async for update in updates:
                now = clock()
                if not stream.has_begun:
                    stream.has_begun = True
                    session.open_stream(stream, None if update is None else update.lease, now)
                session.receive(stream, update, now)
                if stream.end is not None:
                    return
        except Exception:
            session.close_stream(stream, Status.INACTIVE, "the connection was lost")
            return
        session.halt(stream)
        # The updates of a client that was killed may end before its connection does.
        await asyncio.sleep(PARTING)
        session.close_stream(stream, Status.OK, "")

    async def _stream_states(
        self, requests: AsyncIterator[Any], context: grpc.aio.ServicerContext
    ) -> None:
        """Send states that were asked for. Others would wait, and age, on the way to the reader."""
        robot, code = await self._needed(context), grpc.StatusCode
        usual = default_decimation(robot.session.file.facts.update_rate)
        if robot.states.readers >= MOST_READERS:
            await context.abort(code.RESOURCE_EXHAUSTED, f"{MOST_READERS} read already")
        with robot.states.reader(usual) as reader:
            async for request in requests:
                if request is None or request.count > MOST_ASKED:
                    text = f"no message, or its count is above {MOST_ASKED}"
                    await context.abort(code.INVALID_ARGUMENT, text)
                reader.decimation = min(request.decimation or usual, LARGEST_DECIMATION)
                for _ in range(max(request.count, 1)):
                    message = await reader.next()
                    if message is None:
                        await context.abort(code.FAILED_PRECONDITION, robot.states.end)
                    await context.write(message)

    # Feedback and faults.

    async def _get_feedback(self, request: Any, context: grpc.aio.ServicerContext) -> Any:
        robot = await self._needed(context)
        session, stream = robot.session, robot.session.latest_stream
        state = pb.Feedback.UNKNOWN
        if session.activation:
            state = pb.Feedback.ACTIVE
        elif session.last_error:
            state = pb.Feedback.ERROR
        execution = session.file.report().execution
        if not session.is_in_charge(self._clock()):
            execution = Execution.INACTIVE
        return pb.Feedback(
            state=state,
            message=session.last_error,
            command_id=session.latest_activation,
            counters=None if stream is None else _counters(session, stream),
            execution=execution,
            mode=robot.link.situation.name,
        )

    async def _list_faults(self, request: Any, context: grpc.aio.ServicerContext) -> Any:
        found = (await self._needed(context)).session.standing_faults()
        return pb.Faults(
            faults=[
                pb.Fault(id=it.id, cause=it.cause, time=it.time, clearable=True) for it in found
            ]
        )

    async def _clear_fault(self, request: Any, context: grpc.aio.ServicerContext) -> Any:
        robot = await self._needed(context)
        session, now = robot.session, self._clock()
        if session.lease.is_in_force(now) and not session.has_lease(request.lease, now):
            owner = session.lease.owner
            return pb.Reply(status=Status.LEASE_TAKEN, message=f"{owner} has the lease")
        fault = next((it for it in session.standing_faults() if it.id == request.id), None)
        if fault is None:
            return pb.Reply(
                status=Status.INVALID_REQUEST, message=f"id: {request.id}, no such fault stands"
            )
        if fault.id < ROBOT_FAULT:
            session.clear_own_fault(fault)
            return pb.Reply(status=Status.OK)
        refusal = await asyncio.to_thread(robot.link.clear_fault)
        status = Status.NOT_CLEARED if refusal else Status.OK
        return pb.Reply(status=status, message=refusal)

    async def _needed(self, context: grpc.aio.ServicerContext) -> Robot:
        robot = self._robot()
        if robot is None:
            await context.abort(grpc.StatusCode.FAILED_PRECONDITION, self._obstacle())
        assert robot is not None
        return robot


def _of_messages(call: Callable[..., Any]) -> Callable[..., Any]:
    """Return `call`, which is not made for a request that is no message."""

    async def answer(request: Any, context: grpc.aio.ServicerContext) -> Any:
        if request is None:
            await context.abort(grpc.StatusCode.INTERNAL, "the request is no message of this call")
        return await call(request, context)

    return answer


def _no_lease() -> Any:
    return pb.Reply(status=Status.NO_LEASE, message="this lease is not in force")


def _joint(facts: StreamFacts, row: int) -> Any:
    table = facts.effort_tables.get(facts.joints[row])
    acts = [capabilities[row] for capabilities in facts.capabilities]
    return pb.Joint(
        name=facts.joints[row],
        lower=facts.lower[row],
        upper=facts.upper[row],
        velocity=facts.velocity[row],
        effort=facts.effort[row],
        effort_positions=table.position if table else (),
        efforts=table.effort if table else (),
        position_acts=acts[0],
        velocity_acts=acts[1],
        load_acts=acts[2],
        k_q_p_acts=acts[3],
        k_qd_p_acts=acts[4],
    )


def _counters(session: Session, stream: CommandStream) -> Any:
    it, report = stream.counters, session.file.report()
    return pb.Counters(
        received=it.received,
        accepted=it.accepted,
        rejected=it.rejected,
        late=it.late,
        applied=report.applied_count - stream.applied_before,
        clipped=report.clipped_count - stream.clipped_before,
    )
