"""Execute a stream of commands, tick by tick.

Expiry, velocity limit, lost server and late ticks are checked here, in the loop's tick. So the
robot stops following in time, also when client and server fail.
"""

from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np

from humanoid_control_common.robot.mit_interface import Capability, JointCommand, JointState
from humanoid_joint_client.status import Execution
from humanoid_joint_stream.command.executed_command import clipped
from humanoid_joint_stream.facts import EffortLimits, StreamFacts
from humanoid_joint_stream.shared.records import Report, SentCommand

SERVER_SILENCE: Final = 200_000_000  # [ns] without a heartbeat: the server stands still
LATE: Final = 3.0  # periods that a tick may come late, while a command is executed


class EndReason(IntEnum):
    """The reason for the end of an activation."""

    NOT_ENDED = 0
    EXPIRED = 1  # the latest command is over
    SERVER = 2  # the server is silent
    LATE_TICK = 3
    FAULT = 4


class ServerState(NamedTuple):
    """The latest values of the server in the shared memory, besides commands."""

    heartbeat: int  # [ns]
    activation: int  # that is in force; 0: none
    cleared: int  # the latest fault that is cleared


class StreamExecution:
    """Executes the commands of a stream. Time is an argument: [ns] of the robot's clock."""

    def __init__(self, facts: StreamFacts) -> None:
        count = len(facts.joints)
        acts = np.array(facts.capabilities)
        self._facts = facts
        self._lower, self._upper = np.array(facts.lower), np.array(facts.upper)
        self._efforts = EffortLimits(facts)
        # 1 where velocity and effort act in every tick; the gains of the others are the mode's.
        self._acting = (acts[1:3] == Capability.PER_TICK).astype(np.float64)
        self._fixed_gains = acts[3:] != Capability.PER_TICK
        self._mode_gains = np.array([[facts.stiffness], [facts.damping]])
        self._held = np.zeros(count)  # [rad]
        self._gains = np.zeros((2, count))  # that act: of the command, or the pose that is held
        self._sent: SentCommand | None = None  # the command in force
        self._is_clipped = False  # it was, in one of its ticks
        self._seen = 0  # number of the latest command looked at
        self._report = Report(execution=Execution.INACTIVE)

    @property
    def report(self) -> Report:
        """The execution of the latest tick."""
        return self._report

    def begin(self, state: JointState, server: ServerState, seen: int) -> None:
        """Begin to hold the measured pose. Commands up to number `seen` are ignored."""
        self._seen = seen
        # What ended before ended for good: a stream that still comes does not set it in motion.
        ended = max(self._report.ended, server.activation)
        self._report = self._report._replace(time=0, activation=server.activation, ended=ended)
        self._hold(state)

    def leave(self) -> None:
        """Note that another controller is in charge."""
        self._sent = None
        self._report = self._report._replace(execution=Execution.INACTIVE)

    def step(
        self,
        state: JointState,
        command: JointCommand,
        now: int,
        period: float,
        server: ServerState,
        newest: tuple[int, SentCommand] | None,
    ) -> None:
        """Fill `command` for this tick, `period` [s] after the last; `newest` has its number."""
        late = period * self._facts.update_rate
        self._serve(server, state)
        self._report = self._report._replace(
            time=now,
            activation=server.activation,
            position_clipped=0,
            load_clipped=0,
        )
        if newest is not None and newest[0] != self._seen:
            self._seen = newest[0]
            self._take(newest[1], now)
        if self._report.execution == Execution.FOLLOWING:
            self._judge_end(now, late, server, state)
        elif self._waits() and now - server.heartbeat > SERVER_SILENCE:
            # Its lease would end an activation without commands, but it cannot run out any more.
            self._end(EndReason.SERVER, self._report.activation, state)
        self._judge_velocity(state, now)
        self._fill(state, command, now)

    # Inside.

    def _hold(self, state: JointState) -> None:
        """Hold the measured pose until a command comes."""
        self._sent = None
        self._held[:] = state.position
        self._gains[:] = self._mode_gains
        self._report = self._report._replace(
            execution=Execution.HOLDING,
            why_ended=EndReason.NOT_ENDED,
            applied_key=0,
            applied_time=0,
            position_clipped=0,
            load_clipped=0,
        )

    def _serve(self, server: ServerState, state: JointState) -> None:
        report = self._report
        if report.execution == Execution.FAULT and server.cleared >= report.fault:
            self._report = report._replace(execution=Execution.FALLBACK)
            self._held[:] = state.position
        sent = self._sent
        stopped = sent is not None and server.activation != sent.activation
        # A client may end before its first command.
        if stopped or (self._waits() and not server.activation):
            self._fall_back(state)
        is_new = server.activation > max(report.activation, report.ended)
        if is_new and self._report.execution == Execution.FALLBACK:
            self._hold(state)

    def _waits(self) -> bool:
        """Return whether the pose is held for the first command of an activation.

        An activation of an earlier entry has ended already.
        """
        report = self._report
        return report.execution == Execution.HOLDING and report.activation > report.ended

    def _take(self, sent: SentCommand, now: int) -> None:
        """Execute a new command from now on, if its activation is in force."""
        report = self._report
        wanted = sent.activation == report.activation and sent.activation > report.ended
        if not wanted or report.execution == Execution.FAULT or sent.command.is_over(now):
            return
        self._sent, self._is_clipped = sent, False
        self._gains[:] = np.where(self._fixed_gains, self._mode_gains, sent.command.rows[3:])
        self._report = report._replace(
            execution=Execution.FOLLOWING,
            applied_key=sent.key,
            applied_time=now,
            applied_count=report.applied_count + 1,
            why_ended=EndReason.NOT_ENDED,
        )

    def _judge_end(self, now: int, late: float, server: ServerState, state: JointState) -> None:
        assert self._sent is not None
        if self._sent.command.is_over(now):
            why = EndReason.EXPIRED
        elif now - server.heartbeat > SERVER_SILENCE:
            why = EndReason.SERVER
        elif late > 1.0 + LATE:
            why = EndReason.LATE_TICK
        else:
            return
        resumes = why is EndReason.EXPIRED and self._facts.resume_after_expiry
        self._end(why, self._report.ended if resumes else self._sent.activation, state)

    def _end(self, why: EndReason, ended: int, state: JointState) -> None:
        """Fall back; activations up to number `ended` are over."""
        self._fall_back(state)
        self._report = self._report._replace(why_ended=why, ended=ended)

    def _judge_velocity(self, state: JointState, now: int) -> None:
        report, sent = self._report, self._sent
        stiff = report.execution in (Execution.FOLLOWING, Execution.HOLDING)
        if not (stiff or self._holds_on()):
            return
        limit = self._facts.velocity_floor or np.inf
        if sent is not None:
            limit = min(limit, sent.velocity_limit)
        if limit == np.inf:
            return
        fast = np.abs(state.velocity)
        joint = int(np.argmax(np.where(np.isnan(fast), 0.0, fast)))
        if not fast[joint] > limit:
            return
        activation = sent.activation if sent is not None else report.activation
        self._sent = None
        self._report = report._replace(
            execution=Execution.FAULT,
            ended=max(report.ended, activation),
            why_ended=EndReason.FAULT,
            fault=report.fault + 1,
            fault_joint=joint,
            fault_time=now,
            fault_velocity=float(fast[joint]),
            fault_limit=float(limit),
        )

    def _holds_on(self) -> bool:
        """Return whether the robot is in the stiff fallback."""
        return self._report.execution == Execution.FALLBACK and self._facts.fallback == "hold"

    def _fall_back(self, state: JointState) -> None:
        self._sent = None
        self._held[:] = state.position
        self._report = self._report._replace(execution=Execution.FALLBACK)

    def _fill(self, state: JointState, command: JointCommand, now: int) -> None:
        execution = self._report.execution
        if execution == Execution.FOLLOWING:
            self._follow(state, command, now)
            return
        command.array.fill(0.0)
        if execution == Execution.HOLDING or self._holds_on():
            command.position[:] = self._held
            command.array[3:] = self._gains
        else:
            command.position[:] = state.position
            command.damping[:] = self._facts.damping

    def _follow(self, state: JointState, command: JointCommand, now: int) -> None:
        assert self._sent is not None
        it = self._sent.command
        position, position_clipped = clipped(it.position(now), self._lower, self._upper)
        limit = self._efforts.at(state.position)
        load, load_clipped = clipped(it.rows[2], -limit, limit)
        command.position[:] = position
        command.velocity[:] = it.rows[1] * self._acting[0]
        command.effort[:] = load * self._acting[1]
        command.array[3:] = self._gains
        report = self._report
        if position_clipped or load_clipped:
            self._report = report._replace(
                position_clipped=int(position_clipped),
                load_clipped=int(load_clipped),
                clipped_count=report.clipped_count + (not self._is_clipped),
            )
            self._is_clipped = True
