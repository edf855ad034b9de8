"""The drives in operation: each tick of the control loop, and the idle time between ticks."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Final

import numpy as np

from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_devices_erob.drive.drive_registers import REGISTERS
from humanoid_devices_erob.drive.joint_frame import JointFrame
from humanoid_devices_erob.errors import TurnsError
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoStatus
from humanoid_devices_erob.mailbox.sdo_batch import SHORT_TIMEOUT, Results
from humanoid_devices_erob.master.al_state import AlState, AlStatus
from humanoid_devices_erob.master.link_errors import LinkErrors
from humanoid_devices_erob.master.master import EthercatMaster
from humanoid_devices_erob.master.ring import Ring
from humanoid_devices_erob.operation.drive_impedance import DriveImpedance
from humanoid_devices_erob.operation.drive_monitor import SILENCE, DriveMonitor
from humanoid_devices_erob.operation.joint_states_gate import JointStatesGate
from humanoid_devices_erob.operation.recovery import Recovery
from humanoid_devices_erob.operation.sdo_policy import stiffens
from humanoid_devices_erob.protocol import objects
from humanoid_devices_erob.protocol.coe import Emergency
from humanoid_devices_erob.reason_codes import TURNS_UNKNOWN
from humanoid_devices_erob.settings import Settings

# [s] before the next tick in which no datagram begins: the longest, seen from Python, takes this.
MARGIN: Final = 0.00025
# For how long after an exchange SDO may be sent: periods, but at least FRESH [s].
FRESH_PERIODS: Final = 3.0
FRESH: Final = 0.02
HISTORY: Final = 2  # entries of 0x1003 that are read with an error

_ERROR_OBJECTS: Final = (
    (objects.ERROR_CODE, 0),
    *((objects.ERROR_HISTORY, entry) for entry in range(1, HISTORY + 1)),
)
# After a write with one of these results the drive's registers are read.
_IN_DOUBT: Final = (SdoStatus.TIMED_OUT, SdoStatus.ABORTED)


class Operation:
    """The loop's use of the ring. Belongs to the loop's thread."""

    def __init__(
        self,
        settings: Settings,
        master: EthercatMaster,
        ring: Ring,
        impedance: DriveImpedance,
        gate: JointStatesGate,
    ) -> None:
        joint_at = settings.joint_at
        self.monitor = DriveMonitor(settings.name, joint_at)
        self.frame = JointFrame(settings)
        self._settings, self._master, self._ring, self._impedance = (
            settings,
            master,
            ring,
            impedance,
        )
        self._gate = gate
        self._clock = ring.machine.clock
        self._recovery = Recovery(
            master, ring, joint_at, lambda: self.frame.to_ring(impedance.too_stiff)
        )
        self._all_in_op: Sequence[AlStatus] = [AlStatus(AlState.OP)] * len(joint_at)
        self.states: Sequence[AlStatus] = self._all_in_op  # latest AL states of all slaves
        self.mailed = np.zeros(len(SdoStatus), dtype=np.int64)  # objects by result
        self.emergencies = 0
        self.links = LinkErrors(master, self._clock, len(joint_at))
        # By slave, the latest batch that softens its drive, and the request for its errors.
        self._softening: dict[int, Future[Results]] = {}
        self._errors: dict[int, Future[Results]] = {}
        self._held: dict[int, SdoBatch] = {}  # by slave, the latest that met a stiff drive
        # Results of batches, and whether gains are read after a failure; from any thread.
        self._answers: deque[tuple[Results, bool]] = deque()
        ring.sdo.timeout = SHORT_TIMEOUT
        ring.sdo.refusal = self._refusal
        ring.sdo.ended = impedance.transfer_ended
        ring.engine.on_emergency = self._emergency
        ring.set_rate(settings.period, settings.period)
        ring.sequencer.disable(~ring.enabled)  # those that have dropped since the bring-up

    @property
    def sample_age(self) -> float:
        """Return the age [s] of the latest measurements of all slaves."""
        return self._clock() - self._ring.last_complete

    def read(self, state: JointState) -> None:
        """Fill `state` from the latest exchange."""
        self.frame.measure(self._ring.image, state)

    def write(self, command: JointCommand, period: float) -> None:
        """Exchange process data with this tick's targets."""
        ring, image = self._ring, self._ring.image
        self._note_answers()
        before = ring.enabled
        follow = ~before
        follow |= self.frame.to_ring(command.stiffness == 0.0)
        follow |= self.frame.to_ring(self._impedance.unconfirmed())
        counts = self.frame.to_counts(command.position, image)
        free = self.frame.to_ring(self._impedance.free) | ~before
        measured = image.position.astype(np.float64)
        ring.exchange(ring.targets.update(counts, measured, follow, free, period))
        dropped = before & ~ring.enabled
        if self._clock() - ring.last_answer > SILENCE:
            # Frames may still arrive and keep drives stiff, whose gains can't be changed now.
            dropped = ring.sequencer.wanted.copy()
        if dropped.any():
            ring.sequencer.disable(dropped)  # until the fault is reset
        self.monitor.update(ring)

    def idle_until(self, deadline: float) -> None:
        """Check states, read errors and exchange mail until `deadline` [s] is near."""
        back = deadline - MARGIN
        if self._clock() < back:
            self._check_states()
            self._read_errors()
            self.links.poll()
            softening = self._impedance.softening(self._may_be_softened)
            if softening is not None:
                # After a failure the drive is softened again. To read its gains meanwhile would
                # occupy the mailbox of a slow drive: it takes one request in each answer's time.
                future = self._begin(softening, read_after_failure=False)
                self._softening |= {it.slave: future for it in softening.objects}
            self._ring.exchange_mail_until(back)

    def submit(self, batch: SdoBatch) -> Future[Results]:
        """Begin a batch; gains are read if it fails to write. Any thread may call this."""
        return self._begin(batch, read_after_failure=batch.write)

    def reset_faults(self) -> None:
        """Begin to lead the drives back to operation.

        A joint whose turns are unclear is left out: it would be driven through whole turns.
        """
        self._forget_errors(lambda _slave, request: request.done())
        unclear = np.zeros(len(self._settings.joints), dtype=bool)
        reason = NO_REASON
        try:
            self.frame.find_turns(self._ring.image)
        except TurnsError as error:
            unclear[list(error.joints)] = True
            reason = Reason.of(TURNS_UNKNOWN, str(error))
        self._recovery.begin(self.frame.to_ring(unclear), reason)
        self.monitor.set_remark(reason)

    def _begin(self, batch: SdoBatch, *, read_after_failure: bool) -> Future[Results]:
        future = self._ring.sdo.submit(batch)
        future.add_done_callback(partial(self._take, read_after_failure=read_after_failure))
        return future

    def _take(self, future: Future[Results], *, read_after_failure: bool) -> None:
        self._answers.append((future.result(), read_after_failure))

    def _note_answers(self) -> None:
        while self._answers:
            results, read_after_failure = self._answers.popleft()
            for result in results:
                self.mailed[result.status] += 1
            if read_after_failure:
                failed = {it.object.slave for it in results if it.status in _IN_DOUBT}
                self._read_gains(sorted(failed))

    def _check_states(self) -> None:
        """Check the AL states: neither a full working counter nor an old statusword proves OP.

        Lost frames are not judged here: the exchanges count them. Slaves that take part in the
        exchange and do not answer now have got no frame. Without their set-up they do neither.
        """
        if not self._ring.answered:
            return
        states = self._all_in_op if self._master.all_in_op else self._master.states()
        silent = all(status.state is AlState.NONE for status in states)
        if silent and self._ring.working_counter > 0:
            return
        self.states = states
        self.monitor.set_states(self.states)
        for slave, status in enumerate(self.states):
            if status.state not in (AlState.SAFEOP, AlState.OP):
                self._impedance.slave_lost(slave)
        if self._recovery.active:
            self._recovery.step(self.states)
            if not self._recovery.active:
                self._recovered()

    def _recovered(self) -> None:
        self.monitor.set_remark(self._recovery.remark)
        self._read_gains(self._recovery.recovered)

    def _read_gains(self, slaves: Sequence[int]) -> None:
        reads = tuple(SdoObject(slave, *key) for slave in slaves for key in REGISTERS)
        if reads:
            self.submit(SdoBatch(reads, write=False))

    def _read_errors(self) -> None:
        """Read the errors of each drive that has left operation, once."""
        faulty = np.flatnonzero(self.monitor.faulty).tolist()
        self._forget_errors(lambda slave, _request: slave not in faulty)
        for slave in faulty:
            if slave not in self._errors and not self._refusal(slave, _READING):
                wanted = tuple(SdoObject(slave, *key) for key in _ERROR_OBJECTS)
                self._errors[slave] = future = self._ring.sdo.submit(SdoBatch(wanted, write=False))
                future.add_done_callback(partial(self._take_errors, slave))

    def _forget_errors(self, may_be_read_again: Callable[[int, Future[Results]], bool]) -> None:
        """Forget requests for errors. One that waits stays while its drive is faulty."""
        self._errors = {
            slave: request
            for slave, request in self._errors.items()
            if not may_be_read_again(slave, request)
        }

    def _take_errors(self, slave: int, future: Future[Results]) -> None:
        first, *_ = results = future.result()
        code, *history = [
            int.from_bytes(it.object.data, "little") & 0xFFFF if it.status is SdoStatus.DONE else 0
            for it in results
        ]
        if code:  # else the history is that of earlier errors
            self.monitor.set_errors(slave, (code, *filter(None, history)))
        elif first.status is not SdoStatus.DONE:
            self.monitor.set_unread(slave, first.message)

    def _emergency(self, slave: int, emergency: Emergency) -> None:
        self.emergencies += 1
        if emergency.code:
            self.monitor.set_errors(slave, (emergency.code,))

    def _refusal(self, slave: int, batch: SdoBatch) -> str:
        """Return why no object of the batch may be sent to the slave now; empty if it may.

        A slave that has fallen to SAFEOP has its mailbox, and an error that tells why; on its way
        back to OP it gets no mail.
        """
        status = self.states[slave]
        if status.state is not AlState.OP or status.error:
            fallen = status.state is AlState.SAFEOP and not self._recovery.active
            if batch.write or not fallen:
                return f"slave {slave} is not in OP: {status}"
        silence = self._clock() - self._ring.last_answer
        if silence > max(FRESH_PERIODS * self._settings.period, FRESH):
            return f"no exchange of process data for {silence * 1e3:.0f} ms"
        if not batch.write:
            return ""
        impedance = self._impedance
        if (batch.mode, batch.number) != (impedance.mode, impedance.number):
            return (
                f"meant for mode {batch.mode} under switch number {batch.number}; in force is "
                f"{int(impedance.mode)} under {impedance.number}"
            )
        return self._gate.obstacle(self._clock()) or self._pull_refusal(slave, batch)

    def _pull_refusal(self, slave: int, batch: SdoBatch) -> str:
        """Return why the batch may not make the drive stiff: the target would pull its joint.

        The whole batch is refused: a part of it may be worse than nothing.
        """
        if not any(it.slave == slave and stiffens(it) for it in batch.objects):
            return ""
        # What a batch has written is unknown until it reads it back, which must not stop it.
        if self.frame.to_ring(self._impedance.stiff)[slave]:
            self._held[slave] = batch
        distance = self._ring.targets.left_behind(slave)
        if not distance or self._held.get(slave) is batch:
            return ""
        return (
            f"{self._settings.joint_at[slave]} may be limp, and its target is {distance:.2f} rad "
            "away: stiff, it would be pulled there. The target creeps after the joint until the "
            "velocity feed-forward 0x2382:03 is read back as 0"
        )

    def _may_be_softened(self, slave: int) -> bool:
        """Return whether to begin: a slow mailbox must not be filled with the same writes."""
        pending = self._softening.get(slave)
        return (pending is None or pending.done()) and self._writable(slave)

    def _writable(self, slave: int) -> bool:
        mode, number = int(self._impedance.mode), self._impedance.number
        return not self._refusal(slave, SdoBatch((), write=True, mode=mode, number=number))


_READING: Final = SdoBatch((), write=False)
