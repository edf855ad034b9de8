"""The server's part of the joint stream: lease, activation, the stream of commands, faults.

No ROS and no network; time is an argument [ns]. The robot itself decides in its tick what it
executes: see StreamExecution.
"""

import threading
from typing import Any, Final, NamedTuple

from humanoid_control_common.rules.modes import SAFE_MODES, Mode
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY
from humanoid_joint_client.status import Execution, Status
from humanoid_joint_stream.command.stream_execution import EndReason
from humanoid_joint_stream.command.update import NO_MESSAGE, UpdateError
from humanoid_joint_stream.facts import SECOND
from humanoid_joint_stream.server.command_stream import CommandStream, LastUpdate
from humanoid_joint_stream.server.lease import Lease
from humanoid_joint_stream.shared.records import Report, SentCommand
from humanoid_joint_stream.shared.stream_file import StreamFile, Word

ACTIVATION_GRACE: Final = 2 * SECOND  # [ns] a stream may wait for its activation
STATEMENT: Final = SECOND // 5  # [ns] after a switch its statement comes: ten periods of these
SILENT_LOOP: Final = SECOND // 2  # [ns] without a report: the loop stands still
ROBOT_FAULT: Final = 1 << 62  # ids from here on: of the robot itself
_ENDINGS: Final = {
    EndReason.EXPIRED: (Status.EXPIRED, "the latest command was over before another one came"),
    EndReason.SERVER: (Status.INACTIVE, "the server stood still for too long"),
    EndReason.LATE_TICK: (Status.INACTIVE, "a tick of the control loop came too late"),
    EndReason.FAULT: (Status.FAULT, "velocity safety limit exceeded"),
}


class Situation(NamedTuple):
    """The robot as its mode manager states it."""

    mode: Mode | None = None  # None: unknown
    reason: str = ""
    codes: tuple[str, ...] = ()
    switch_number: int = 0

    @property
    def name(self) -> str:
        """The name of the mode."""
        return "unknown" if self.mode is None else self.mode.name

    @property
    def has_fallen(self) -> bool:
        """True if the robot refuses other modes until its fault is cleared."""
        return self.mode in SAFE_MODES and FELL_TO_SAFETY.name in self.codes


class StandingFault(NamedTuple):
    """A present fault."""

    id: int
    cause: str
    time: int  # [ns]


class Session:
    """One robot's clients. Called by any thread.

    Args:
        file: the shared memory, of which this is the only server.
        now: [ns] of the robot's clock.
    """

    def __init__(self, file: StreamFile, now: int) -> None:
        self.file = file
        self.lock = threading.RLock()
        self.lease = Lease()
        self.activation = 0  # in force; 0: none
        self.latest_activation = 0
        self.last_error = ""  # why the latest activation has ended; empty: in order, or not yet
        self.situation = Situation()
        self._fallen_at = 0
        self._fell_because = ""  # the reason of a later statement may be that of a refusal
        self._left_at = 0  # [ns] the robot was first seen to have left this activation; 0: not yet
        self._stream: CommandStream | None = None
        self._latest_stream: CommandStream | None = None
        file.words[Word.ACTIVATION] = 0
        file.words[Word.HEARTBEAT] = now

    # Lease and activation.

    def acquire_lease(self, owner: str, now: int) -> str:
        """Return the token of a new lease; empty if another one is in force.

        The stream of a lease that has run out ends first.
        """
        with self.lock:
            self._end_lease_that_ran_out(now)
            return self.lease.acquire(owner, now)

    def has_lease(self, token: str, now: int) -> bool:
        """Return whether `token` is that of the lease in force; if so, extend the lease."""
        with self.lock:
            return self.lease.keep(token, now)

    def standing_faults(self) -> list[StandingFault]:
        """Return the faults of the stream and of the robot."""
        report = self.file.report()
        found = []
        if report.fault > self.file.words[Word.CLEARED]:
            joint = self.file.facts.joints[report.fault_joint]
            cause = (
                f"velocity safety limit: {joint} moved at {report.fault_velocity:.2f} rad/s, "
                f"limit {report.fault_limit:g} rad/s"
            )
            found.append(StandingFault(report.fault, cause, report.fault_time))
        if self.situation.has_fallen:
            id_ = ROBOT_FAULT + self.situation.switch_number
            found.append(StandingFault(id_, self._fell_because, self._fallen_at))
        return found

    def clear_own_fault(self, fault: StandingFault) -> None:
        """Clear a fault of the stream."""
        self.file.words[Word.CLEARED] = fault.id

    def is_in_charge(self, now: int) -> bool:
        """Return whether the robot executes this stream's commands in its ticks."""
        return _in_charge(self.file.report(), now)

    def has_left(self) -> bool:
        """Return whether the robot is in another mode. It is not while its loop is held up."""
        return not _runs(self.file.report())

    def readiness(self, lease: str, now: int) -> tuple[Status, str]:
        """Return whether an activation may begin, or what hinders it.

        NOT_READY: only that the robot does not execute this stream's commands yet.
        """
        if not self.has_lease(lease, now):
            return Status.NO_LEASE, "acquire the lease first"
        if self.file.words[Word.UNLOADED]:
            return Status.UNAVAILABLE, "the joint stream's controller is unloaded: `hc load` it"
        if faults := self.standing_faults():
            return Status.FAULT, faults[0].cause
        if self.is_in_charge(now):
            return Status.OK, ""
        return Status.NOT_READY, "the robot is not in REMOTE"

    def begin_activation(self, now: int) -> int:
        """Put a new activation in force; return its number, which rises with time."""
        with self.lock:
            if self._stream is not None and self._stream.has_no_more:
                # Its end, which follows, is not that of the new activation.
                self._stream.finish(Status.OK, "")
                self._stream = None
            self.activation = self.latest_activation = max(now, self.latest_activation + 1)
            self.last_error = ""
            self._left_at = 0
            self.file.words[Word.HEARTBEAT] = now
            self.file.words[Word.ACTIVATION] = self.activation
            if self._stream is not None:
                self._stream.has_been_active = True
            return self.activation

    def stop(self, status: Status, message: str) -> None:
        """Have the robot stop executing commands, and end the stream."""
        with self.lock:
            self.file.words[Word.ACTIVATION] = 0
            if self.activation and status is not Status.OK:
                self.last_error = f"{status.name}: {message}"
            self.activation = 0
            stream, self._stream = self._stream, None
            if stream is not None:
                stream.finish(status, message)

    # The stream of commands.

    def open_stream(self, stream: CommandStream, lease: str | None, now: int) -> None:
        """Begin to take the updates of `stream`, or end it: no lease, or there is one already.

        `lease` is that of its first update; None: this is no message.
        """
        with self.lock:
            if lease is None:
                stream.finish(Status.INVALID_REQUEST, NO_MESSAGE)
            elif not self.lease.keep(lease, now):
                stream.finish(Status.NO_LEASE, "acquire the lease first")
            elif self._stream is not None:
                stream.finish(Status.ALREADY_STREAMING, f"{self.lease.owner} streams")
            else:
                report = self.file.report()
                stream.applied_before = report.applied_count
                stream.clipped_before = report.clipped_count
                stream.has_been_active = self.activation > 0
                self._stream = self._latest_stream = stream

    def receive(self, stream: CommandStream, update: Any, now: int) -> None:
        """Take an update: leave its command for the robot's next tick, or end the stream."""
        with self.lock:
            self._check_activation(now)  # ended here too, in case `poll` has not been called
            if stream is not self._stream:
                return
            self.file.words[Word.HEARTBEAT] = now  # a server that receives updates is alive
            found = stream.receive(update, now)
            if isinstance(found, UpdateError):
                if found.ends_stream:
                    self.stop(found.status, str(found))
            elif self.activation:
                sent = SentCommand(self.activation, found.key, found.velocity_limit, found.command)
                self.file.commands.write(sent.to_bytes())

    def halt(self, stream: CommandStream) -> None:
        """Order the robot to stop executing the commands of `stream`, whose end follows."""
        with self.lock:
            stream.has_no_more = True
            if stream is self._stream:
                self.file.words[Word.ACTIVATION] = 0

    def close_stream(self, stream: CommandStream, status: Status, message: str) -> None:
        """End a stream that its client has closed or lost; the robot stops executing."""
        with self.lock:
            if stream is self._stream:
                self.stop(status, message)
            stream.finish(status, message)

    @property
    def last_update(self) -> LastUpdate:
        """The latest update of the latest stream."""
        stream = self._latest_stream
        return LastUpdate() if stream is None else stream.last

    @property
    def latest_stream(self) -> CommandStream | None:
        """The stream that is open, or was last."""
        return self._latest_stream

    # In between.

    def poll(self, situation: Situation, now: int) -> None:
        """Send the server's heartbeat, and end expired streams and leases. Called every few ms."""
        with self.lock:
            self.file.words[Word.HEARTBEAT] = now
            self._note(situation, now)
            # In this order: after a hold-up of this server the lease may have run out, too.
            self._check_activation(now)
            self._end_lease_that_ran_out(now)
            stream = self._stream
            if stream is None or self.activation or stream.has_been_active:
                return
            if now - stream.opened > ACTIVATION_GRACE:
                self.stop(Status.INACTIVE, "not activated in time")

    def _note(self, situation: Situation, now: int) -> None:
        before, self.situation = self.situation, situation
        same = before.has_fallen and before.switch_number == situation.switch_number
        if situation.has_fallen and not same:
            self._fallen_at, self._fell_because = now, situation.reason

    def _end_lease_that_ran_out(self, now: int) -> None:
        if self.lease.owner and not self.lease.is_in_force(now):
            owner = self.lease.owner
            self.lease.end()
            self.stop(Status.NO_LEASE, f"the lease of {owner} was not kept")

    def _check_activation(self, now: int) -> None:
        """End the activation if the robot no longer follows."""
        if not self.activation:
            return
        report = self.file.report()
        # Until the next tick the report has also a fault that is cleared.
        stands = (
            report.execution == Execution.FAULT and report.fault > self.file.words[Word.CLEARED]
        )
        if report.ended >= self.activation or stands:
            status, message = _ENDINGS[EndReason(report.why_ended)] if report.why_ended else _LEFT
            self.stop(status, self._explained(report, message, now))
        elif not _in_charge(report, now):  # the same report: the reason is of one moment
            if report.execution == Execution.INACTIVE and self.situation.mode is Mode.REMOTE:
                # Not since the latest tick: the loop may have been held up before.
                self._left_at = self._left_at or now
                if now - self._left_at < STATEMENT:
                    return  # the statement of the next mode, with its reason, is on its way
            reason, mode = self.situation.reason, self.situation.name
            text = f"the robot is in {mode}{f': {reason}' if reason else ''}"
            if _runs(report):
                text = f"the control loop has not ticked for {(now - report.time) * 1e-9:.2f} s"
            self.stop(Status.INACTIVE, text)

    def _explained(self, report: Report, message: str, now: int) -> str:
        if report.why_ended == EndReason.FAULT and (faults := self.standing_faults()):
            return faults[0].cause
        last = self._stream.accepted if self._stream is not None else None
        if report.why_ended == EndReason.EXPIRED and last is not None:
            horizon, gap = (last.end - last.received) * 1e-9, (now - last.received) * 1e-9
            return f"{message} (horizon {horizon:.3f} s, none came for {gap:.3f} s)"
        return message


def _runs(report: Report) -> bool:
    return report.execution not in (Execution.UNKNOWN, Execution.INACTIVE)


def _in_charge(report: Report, now: int) -> bool:
    return _runs(report) and now - report.time < SILENT_LOOP


_LEFT: Final = (Status.INACTIVE, "the robot left REMOTE and came back")
