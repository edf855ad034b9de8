"""Former defects of the product, restored: the campaign must find each of them again.

The product has no switch for these defects. These functions change its classes in this process,
before the robot is brought up.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from math import inf
from typing import Any, Final

import numpy as np

from fault_campaign.disturbing.sabotage import put
from fault_campaign.stepped import reverted_can_mends as can
from humanoid_bringup_prime.impedance import register_record
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.modes import Situation
from humanoid_control_common.rules.reasons import Reason
from humanoid_controller_manager.loop.active_controller import ActiveController, Runnable
from humanoid_controller_manager.loop.mode_controllers import Tick
from humanoid_controller_manager.loop.snapshot import Phase, Snapshot
from humanoid_controller_manager.ros.execution.callbacks import CallbackFailure, FailureGuard
from humanoid_controller_manager.safety.self_collision import SelfCollisionStage
from humanoid_controllers.mode_manager.mode_manager import ModeManager
from humanoid_devices_erob.drive.drive_registers import DriveRegisters
from humanoid_devices_erob.mailbox.mailbox_channel import MailboxChannel, SdoJob
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoOutcome
from humanoid_devices_erob.mailbox.sdo_batch import Results
from humanoid_devices_erob.operation.drive_impedance import DriveImpedance
from humanoid_devices_erob.operation.joint_states_gate import JointStatesGate
from humanoid_devices_erob.operation.operation import Operation
from humanoid_devices_erob.operation.recovery import Recovery
from humanoid_joint_client.status import Execution, Status
from humanoid_joint_stream.command.stream_execution import EndReason, StreamExecution
from humanoid_joint_stream.server.command_stream import CommandStream
from humanoid_joint_stream.server.session import Session
from humanoid_joint_stream.shared.records import SentCommand
from humanoid_motion.dynamics.gravity_model import GravityModel
from humanoid_motion.motion_file.motion import MotionFile
from humanoid_motion.trajectory.time_scaling import TimeScaling


def _permission_asked_once() -> None:
    """Repeat a request for an SDO write without a new check of its permission.

    The mend: `MailboxChannel` checks before every sending.
    """
    permitted = MailboxChannel._permitted

    def asked_once(self: Any, job: SdoJob | None) -> bool:
        return self._sent_once or permitted(self, job)

    put(MailboxChannel, "_permitted", asked_once)


def _gate_in_the_clients() -> None:
    """Let the clients alone, not the component, check the time of the joint states.

    The mend: `Operation` refuses every write while `JointStatesGate` is closed.
    """
    begin = Operation.__init__

    def without_gate(self: Operation, *arguments: Any) -> None:
        begin(self, *arguments)
        self._gate = _OpenGate((), 0.0)

    put(Operation, "__init__", without_gate)


class _OpenGate(JointStatesGate):
    def obstacle(self, now: float) -> str:
        """Return that the gate is open."""
        return ""


def _old_register_believed() -> None:
    """Keep the old value of a register after a write that timed out or was aborted.

    The mend: `DriveRegisters` discards the value, and `Operation` reads the registers again.
    """
    put(DriveRegisters, "doubt", lambda _self, _target: None)
    note, read = Operation._note_answers, Operation._read_gains

    def note_only(self: Any) -> None:
        self._read_gains = lambda _slaves: None
        note(self)
        self._read_gains = lambda slaves: read(self, slaves)

    put(Operation, "_note_answers", note_only)


def _callback_error_raised() -> None:
    """Let a ROS callback that raises end the control process, so that all joints lose torque.

    The mend: `FailureGuard` leads the robot to DAMPING.
    """

    def handle(self: FailureGuard, failure: CallbackFailure, now: float) -> None:
        raise failure.error

    put(FailureGuard, "handle", handle)


def _report_while_preparing() -> None:
    """Let the loop read progress and remark of a controller before its activation.

    The mend: the loop reads them after an update, in the `try` around it.
    """
    enter = ActiveController._enter

    def entered(self: ActiveController, slot: Runnable, now: float, phase: Phase) -> None:
        enter(self, slot, now, phase)
        self.progress, self.remark, self.members = slot.report()

    put(ActiveController, "_enter", entered)


def _falls_back_to_itself() -> None:
    """Let a controller that has failed be its own fallback.

    The mend: `ActiveController.fall_back` skips that controller, and activates none that is active.
    """
    fall_back = ActiveController.fall_back

    def to_any(
        self: ActiveController,
        reason: Reason,
        tick: Tick,
        command: JointCommand,
        error: BaseException | None = None,
        failed: Runnable | None = None,
    ) -> None:
        self.phase = Phase.PREPARING  # as if none were active
        fall_back(self, reason, tick, command, error)

    put(ActiveController, "fall_back", to_any)


def _early_request_refused() -> None:
    """Refuse a request while the impedance of the mode in force is still being written.

    The mend: the request waits until the impedance is confirmed, or a timeout.
    """
    situation = ModeManager._situation

    def settled(self: ModeManager, snapshot: Snapshot, now: float, unusable: Reason) -> Situation:
        found = situation(self, snapshot, now, unusable)
        object.__setattr__(found, "writing_impedance", False)
        return found

    put(ModeManager, "_situation", settled)


def _links_not_kept_apart() -> None:
    """Let targets lead two links into each other.

    The mend: `SelfCollisionStage` slows the targets down.
    """
    put(SelfCollisionStage, "allowed", lambda _, _state, _before, wanted, *_rest: wanted)


def _stops_at_once() -> None:
    """Let a motion that is stopped at any speed hold the pose at once.

    The mend: `TimeScaling` brakes along the path.
    """

    def brake(self: TimeScaling, period: float) -> FloatArray:
        self.rate = 0.0
        state = self._trajectory.at(self.time).copy()
        state[1:] = 0.0
        return state

    put(TimeScaling, "brake", brake)


def _edited_motion_sent() -> None:
    """Play a motion file without the check of its ranges and speed for the robot.

    The mend: `MotionFile.check`. The controller also refuses such a motion, but names no line.
    """
    put(MotionFile, "check", lambda *_: None)


def _any_payload_held() -> None:
    """Compensate a payload of any mass, also beyond the limit of the robot.

    The mend: `GravityModel.checked` refuses more than `largest_payload`.
    """
    checked = GravityModel.checked
    put(GravityModel, "checked", lambda self, payload, _: checked(self, payload, inf))


def _stated_as_it_is_now() -> None:
    """State no reason for a fall between the reading of the mode manager and its statement.

    The mend: `ModeManager.statement` uses the latest tick that the mode manager has read.
    """
    put(ModeManager, "observed", property(lambda self: self._loop.snapshot))


def _reading_forgets() -> None:
    """Discard earlier readings of the registers when a reading fails.

    The mend: the impedance manager uses them for `READING_VALID`.
    """
    register_record.READING_VALID = 0.0  # type: ignore[misc]  # final in the product


def _slow_batch_replaces() -> None:
    """Use the readings of a batch when the batch ends, so that they replace later readings.

    The mend: `DriveImpedance` uses each transfer when that ends.
    """
    transfer_ended, submit = DriveImpedance.transfer_ended, Operation.submit

    def writes_only(self: DriveImpedance, target: SdoObject, outcome: SdoOutcome) -> None:
        if target.data:
            transfer_ended(self, target, outcome)

    def learned_at_its_end(self: Any, batch: SdoBatch) -> Future[Results]:
        future = submit(self, batch)

        def learn(done: Future[Results]) -> None:
            for it in done.result():
                target = replace(it.object, data=b"")
                outcome = SdoOutcome(it.status, it.object.data, it.abort_code)
                transfer_ended(self._impedance, target, outcome)

        future.add_done_callback(learn)
        return future

    put(DriveImpedance, "transfer_ended", writes_only)
    put(Operation, "submit", learned_at_its_end)


def _held_without_server() -> None:
    """A server that is killed before the first update leaves the pose held, stiff, for good.

    The mend: `StreamExecution.step` ends an activation whose server is silent.
    """
    end = StreamExecution._end

    def end_followed(self: Any, why: EndReason, ended: int, state: JointState) -> None:
        if self.report.execution != Execution.HOLDING:
            end(self, why, ended, state)

    put(StreamExecution, "_end", end_followed)


def _old_command_executed() -> None:
    """A command that an earlier client left in memory is executed for the next one.

    The mend: `StreamExecution` compares its activation with the one in force.
    """
    take = StreamExecution._take

    def take_any(self: Any, sent: SentCommand, now: int) -> None:
        take(self, replace(sent, activation=self.report.activation), now)

    put(StreamExecution, "_take", take_any)


def _lease_over_a_stream() -> None:
    """A client gets the lease while the stream of the lease that ran out is still open.

    The mend: `Session.acquire_lease` ends that stream first.
    """
    put(Session, "acquire_lease", lambda self, owner, now: self.lease.acquire(owner, now))


def _cleared_fault_ends() -> None:
    """A fault that is cleared ends the activation that follows before the next tick.

    The mend: `Session` compares the fault of the report with the one that was cleared.
    """
    receive = Session.receive

    def received(self: Session, stream: CommandStream, update: Any, now: int) -> None:
        if self.file.report().execution == Execution.FAULT:
            self.stop(Status.FAULT, "a fault stands")
        receive(self, stream, update, now)

    put(Session, "receive", received)


def _old_gains_enabled() -> None:
    """Enable a drive that comes back while it still has the gains of the mode before.

    The mend: `Recovery` waits until the gains have been replaced.
    """
    begin = Recovery.__init__

    def at_once(self: Recovery, *arguments: Any) -> None:
        begin(self, *arguments)
        self._too_stiff = lambda: np.zeros(len(self._joint_at), dtype=bool)

    put(Recovery, "__init__", at_once)


def _limp_left_alone() -> None:
    """Leave the drives limp in DAMPING while the impedance manager is stopped.

    The mend: `DriveImpedance.softening` gives damping to limp drives, too.
    """
    put(DriveImpedance, "limp", property(lambda self: np.zeros(len(self.drives), dtype=bool)))


REVERTED_MENDS: Final[dict[str, Callable[[], None]]] = {
    "permission_asked_once": _permission_asked_once,
    "gate_in_the_clients": _gate_in_the_clients,
    "old_register_believed": _old_register_believed,
    "callback_error_raised": _callback_error_raised,
    "report_while_preparing": _report_while_preparing,
    "only_one_session_cancelled": can.only_one_session_cancelled,
    "falls_back_to_itself": _falls_back_to_itself,
    "early_request_refused": _early_request_refused,
    "links_not_kept_apart": _links_not_kept_apart,
    "stops_at_once": _stops_at_once,
    "edited_motion_sent": _edited_motion_sent,
    "any_payload_held": _any_payload_held,
    "reading_forgets": _reading_forgets,
    "slow_batch_replaces": _slow_batch_replaces,
    "silence_before_counts": can.silence_before_counts,
    "old_feedback_counts": can.old_feedback_counts,
    "silent_adapter_counts": can.silent_adapter_counts,
    "errors_not_asked": can.errors_not_asked,
    "left_to_a_dead_guard": can.left_to_a_dead_guard,
    "rest_of_a_write_lost": can.rest_of_a_write_lost,
    "silent_before_the_guard": can.silent_before_the_guard,
    "no_new_guard": can.no_new_guard,
    "exit_dismisses_the_guard": can.exit_dismisses_the_guard,
    "held_without_server": _held_without_server,
    "old_command_executed": _old_command_executed,
    "lease_over_a_stream": _lease_over_a_stream,
    "cleared_fault_ends": _cleared_fault_ends,
    "old_gains_enabled": _old_gains_enabled,
    "limp_left_alone": _limp_left_alone,
    "diagnosis_notes_silence": can.diagnosis_notes_silence,
}
# Found only if threads are interrupted between any two statements.
BY_INTERRUPTIONS: Final[dict[str, Callable[[], None]]] = {
    "stated_as_it_is_now": _stated_as_it_is_now,
}
