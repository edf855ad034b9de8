"""The answers of the server to its clients' calls."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Final

import grpc

from humanoid_control_common.rules.modes import Intent, Mode, refused
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.status import Execution, Status
from humanoid_joint_stream.facts import SECOND, StreamFacts
from humanoid_joint_stream.server.command_stream import CommandStream
from humanoid_joint_stream.server.lease import TIMEOUT
from humanoid_joint_stream.server.robot_link import RobotLink
from humanoid_joint_stream.server.robot_states import default_decimation
from humanoid_joint_stream.server.session import ACTIVATION_GRACE, ROBOT_FAULT, Session
from humanoid_joint_stream.server.state_hub import StateHub

SWITCHING: Final = 2.0  # [s] until the robot is in REMOTE; it confirms gains within 0.5 s
PARTING: Final = 0.05  # [s] in which a lost connection is noticed after its last update
LOOK: Final = 0.005  # [s] between two looks at the robot meanwhile
LARGEST_DECIMATION: Final = 10_000
MOST_READERS: Final = 24  # of states; each needs a thread
_REFUSED: Final = (refused(Intent.START_REMOTE).name,)


class Robot:
    """What the calls need of a robot that runs. Replaced as a whole when its process is."""

    def __init__(self, session: Session, states: StateHub, link: RobotLink) -> None:
        self.session, self.states, self.link = session, states, link


class JointStreamService:
    """One method for each call of the .proto, by its name.

    Args:
        robot: returns the robot; None while its control process does not run.
        clock: the robot's clock [ns].
    """

    def __init__(self, robot: Callable[[], Robot | None], clock: Callable[[], int]) -> None:
        self._robot, self._clock = robot, clock
        self._activating = threading.Lock()

    def answers(self) -> dict[str, Callable[..., Any]]:
        """Return the function of each call by name."""
        return {
            "GetConfig": self._get_config,
            "GetDescription": self._get_description,
            "SyncTime": self._sync_time,
            "AcquireLease": self._acquire_lease,
            "KeepLease": self._keep_lease,
            "ReturnLease": self._return_lease,
            "Activate": self._activate,
            "Deactivate": self._deactivate,
            "StreamCommands": self._stream_commands,
            "StreamStates": self._stream_states,
            "GetFeedback": self._get_feedback,
            "ListFaults": self._list_faults,
            "ClearFault": self._clear_fault,
        }

    # What the robot is.

    def _get_config(self, request: Any, context: grpc.ServicerContext) -> Any:
        facts = self._needed(context).session.file.facts
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

    def _get_description(self, request: Any, context: grpc.ServicerContext) -> Any:
        return pb.Description(urdf=self._needed(context).link.description())

    def _sync_time(self, request: Any, context: grpc.ServicerContext) -> Any:
        received = self._clock()
        robot = self._robot()
        if request.lease and robot is not None:
            robot.session.has_lease(request.lease, received)
        return pb.TimeReply(
            client_send=request.client_send, server_receive=received, server_send=self._clock()
        )

    # Lease and activation.

    def _acquire_lease(self, request: Any, context: grpc.ServicerContext) -> Any:
        session = self._needed(context).session
        with session.lock:
            token = session.lease.acquire(request.owner[:200], self._clock())
            status = Status.OK if token else Status.LEASE_TAKEN
            return pb.Lease(status=status, token=token, owner=session.lease.owner)

    def _keep_lease(self, request: Any, context: grpc.ServicerContext) -> Any:
        kept = self._needed(context).session.has_lease(request.token, self._clock())
        return pb.Reply(status=Status.OK if kept else Status.NO_LEASE)

    def _return_lease(self, request: Any, context: grpc.ServicerContext) -> Any:
        session = self._needed(context).session
        with session.lock:
            if not session.has_lease(request.token, self._clock()):
                return pb.Reply(status=Status.NO_LEASE)
            session.stop(Status.INACTIVE, "the lease was returned")
            session.lease.end()
            return pb.Reply(status=Status.OK)

    def _activate(self, request: Any, context: grpc.ServicerContext) -> Any:
        robot = self._needed(context)
        with self._activating:
            status, message = self._activated(robot, request.lease)
            if status is not Status.OK:
                return pb.ActivateReply(status=status, message=message)
            return pb.ActivateReply(
                status=status, command_id=robot.session.begin_activation(self._clock())
            )

    def _activated(self, robot: Robot, lease: str) -> tuple[Status, str]:
        """Bring the robot to REMOTE. Return what hinders it."""
        session, link = robot.session, robot.link
        if not session.has_lease(lease, self._clock()):
            return Status.NO_LEASE, "acquire the lease first"
        if faults := session.standing_faults():
            return Status.FAULT, faults[0].cause
        if session.is_in_charge(self._clock()):
            return Status.OK, ""
        before = link.situation
        if before.mode is not Mode.STANDBY:
            return Status.NOT_READY, f"requires a finished STANDBY (currently {before.name})"
        link.request(Mode.REMOTE)
        deadline = self._clock() + round(SWITCHING * SECOND)
        while self._clock() < deadline:
            now = link.situation
            if now.mode is Mode.REMOTE and session.is_in_charge(self._clock()):
                # The lease may have ended meanwhile.
                kept = session.has_lease(lease, self._clock())
                return (Status.OK, "") if kept else (Status.NO_LEASE, "it has ended meanwhile")
            answered = now != before and now.codes[:1] == _REFUSED
            if answered or now.mode not in (Mode.STANDBY, Mode.REMOTE):
                break
            time.sleep(LOOK)
        now = link.situation
        return Status.NOT_READY, now.reason or f"the robot is in {now.name}"

    def _deactivate(self, request: Any, context: grpc.ServicerContext) -> Any:
        robot = self._needed(context)
        session = robot.session
        if not session.has_lease(request.token, self._clock()):
            return pb.Reply(status=Status.NO_LEASE)
        session.stop(Status.INACTIVE, "deactivated")
        if session.is_in_charge(self._clock()):
            robot.link.request(Mode.DAMPING)
        return pb.Reply(status=Status.OK)

    # Streams.

    def _stream_commands(self, updates: Iterator[Any], context: grpc.ServicerContext) -> Any:
        session = self._needed(context).session
        stream = CommandStream(session.file.facts, self._clock())

        gone = threading.Event()

        def lost() -> None:
            session.close_stream(stream, Status.INACTIVE, "the connection was lost")
            gone.set()

        if not context.add_callback(lost):
            lost()
        reader = threading.Thread(
            target=self._read, args=(session, stream, updates, gone), name="commands", daemon=True
        )
        reader.start()
        if not stream.begun.wait(ACTIVATION_GRACE / SECOND):
            stream.finish(Status.INACTIVE, "no update came")
        stream.ended.wait()
        assert stream.end is not None
        counters = _counters(session, stream)
        return pb.StreamEnd(status=stream.end.status, message=stream.end.message, counters=counters)

    def _read(
        self,
        session: Session,
        stream: CommandStream,
        updates: Iterator[Any],
        gone: threading.Event,
    ) -> None:
        clock = self._clock
        try:
            for update in updates:
                now = clock()
                if not stream.begun.is_set():
                    stream.begun.set()
                    session.open_stream(stream, update.lease, now)
                session.receive(stream, update, now)
                if stream.end is not None:
                    return
        except Exception:
            session.close_stream(stream, Status.INACTIVE, "the connection was lost")
        else:
            session.halt(stream)
            # The updates of a client that was killed may end before its connection does.
            gone.wait(PARTING)
            session.close_stream(stream, Status.OK, "")

    def _stream_states(self, request: Any, context: grpc.ServicerContext) -> Iterator[bytes]:
        robot = self._needed(context)
        facts = robot.session.file.facts
        if robot.states.readers >= MOST_READERS:
            context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, f"{MOST_READERS} read already")
        decimation = request.decimation or default_decimation(facts.update_rate)
        yield from robot.states.read(min(decimation, LARGEST_DECIMATION), context.is_active)
        if context.is_active():
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, "the control process has ended")

    # Feedback and faults.

    def _get_feedback(self, request: Any, context: grpc.ServicerContext) -> Any:
        robot = self._needed(context)
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

    def _list_faults(self, request: Any, context: grpc.ServicerContext) -> Any:
        found = self._needed(context).session.standing_faults()
        return pb.Faults(
            faults=[
                pb.Fault(id=it.id, cause=it.cause, time=it.time, clearable=True) for it in found
            ]
        )

    def _clear_fault(self, request: Any, context: grpc.ServicerContext) -> Any:
        robot = self._needed(context)
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
        refusal = robot.link.clear_fault()
        status = Status.NOT_CLEARED if refusal else Status.OK
        return pb.Reply(status=status, message=refusal)

    def _needed(self, context: grpc.ServicerContext) -> Robot:
        robot = self._robot()
        if robot is None:
            context.abort(
                grpc.StatusCode.FAILED_PRECONDITION, "the robot's control process does not run"
            )
        assert robot is not None
        return robot


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
