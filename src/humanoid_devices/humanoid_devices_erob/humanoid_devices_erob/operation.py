"""The drives in operation: what happens in each tick of the control loop, and between two."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from typing import Final

import numpy as np

from humanoid_control_common.surface import JointCommand, JointState
from humanoid_devices_erob.admission import stiffens
from humanoid_devices_erob.al_state import AlState, AlStatus
from humanoid_devices_erob.bring_up import Master
from humanoid_devices_erob.drive_registers import REGISTERS
from humanoid_devices_erob.impedance_watch import ImpedanceWatch
from humanoid_devices_erob.joint_frame import JointFrame
from humanoid_devices_erob.joint_states_gate import JointStatesGate
from humanoid_devices_erob.link_errors import LinkErrors
from humanoid_devices_erob.recovery import Recovery
from humanoid_devices_erob.ring import Ring
from humanoid_devices_erob.ring_errors import TurnsError
from humanoid_devices_erob.sdo import SdoBatch, SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.sdo_batch import PROMPT
from humanoid_devices_erob.settings import Settings
from humanoid_devices_erob.supervisor import SILENCE, Supervisor
from humanoid_devices_erob.wire import objects
from humanoid_devices_erob.wire.coe import Emergency

# Before the next tick no datagram is begun: the longest of them, seen from Python, takes this [s].
MARGIN: Final = 0.00025
# For so long after an exchange SDO may be sent: so many periods, but so many [s] at least.
FRESH_PERIODS: Final = 3.0
FRESH: Final = 0.02
HISTORY: Final = 2  # entries of 0x1003 that are read with an error

_ERROR_OBJECTS: Final = (
    (objects.ERROR_CODE, 0),
    *((objects.ERROR_HISTORY, entry) for entry in range(1, HISTORY + 1)),
)
# What is in a register after such a write is read.
_IN_DOUBT: Final = (SdoStatus.TIMED_OUT, SdoStatus.ABORTED)


class Operation:
    """Belongs to the loop's thread."""

    def __init__(
        self,
        settings: Settings,
        master: Master,
        ring: Ring,
        watch: ImpedanceWatch,
        gate: JointStatesGate,
    ) -> None:
        joint_at = settings.joint_at
        self.supervisor = Supervisor(settings.name, joint_at)
        self.frame = JointFrame(settings)
        self._settings, self._master, self._ring, self._watch = settings, master, ring, watch
        self._gate = gate
        self._clock = ring.timebase.clock
        self._recovery = Recovery(master, ring, joint_at)
        self._all_in_op: Sequence[AlStatus] = [AlStatus(AlState.OP)] * len(joint_at)
        self.states: Sequence[AlStatus] = self._all_in_op  # of all slaves, as they said last
        self.mailed = np.zeros(len(SdoStatus), dtype=np.int64)  # objects by what became of them
        self.emergencies = 0
        self.links = LinkErrors(master, self._clock, len(joint_at))
        self._asked_errors: set[int] = set()  # slaves whose error has been asked for
        # To batches, and whether they wrote; from any thread.
        self._answers: deque[tuple[tuple[SdoResult, ...], bool]] = deque()
        ring.patience = PROMPT
        ring.refusal = self._refusal
        ring.on_emergency = self._emergency
        ring.paced(settings.period, settings.period)

    @property
    def sample_age(self) -> float:
        """How old [s] the measurements of the slave are that took part last."""
        return self._clock() - self._ring.last_complete

    def read(self, state: JointState) -> None:
        """What the last exchange brought."""
        self.frame.measure(self._ring.image, state)

    def write(self, command: JointCommand, period: float) -> None:
        """One exchange with this tick's targets."""
        ring, image = self._ring, self._ring.image
        self._note_answers()
        before = ring.enabled
        follow = ~before
        if self._watch.confirmed:
            follow |= self.frame.to_ring(command.stiffness == 0.0)
        else:
            follow[:] = True
        counts = self.frame.to_counts(command.position, image)
        free = self.frame.to_ring(self._watch.free) | ~before
        measured = image.position.astype(np.float64)
        ring.exchange(ring.targets.update(counts, measured, follow, free, period))
        dropped = before & ~ring.enabled
        if self._clock() - ring.last_answer > SILENCE:
            # Frames may still get there and keep drives stiff, whose gains can't be changed now.
            dropped = ring.walk.wanted.copy()
        if dropped.any():
            ring.walk.disable(dropped)  # nothing is enabled again before the fault is reset
        self.supervisor.look(ring)

    def idle_until(self, deadline: float) -> None:
        """Everything that isn't the exchange, until `deadline` [s] is near."""
        back = deadline - MARGIN
        if self._clock() < back:
            self._look_at_states()
            self._fetch_errors()
            self.links.look()
            softening = self._watch.softening(self._writable)
            if softening is not None:
                self.submit(softening)
            self._ring.mail_until(back)

    def submit(self, batch: SdoBatch) -> Future[tuple[SdoResult, ...]]:
        """Begin a batch; what it reads is remembered. From any thread."""
        future = self._ring.submit(batch)
        future.add_done_callback(partial(self._take, write=batch.write))
        return future

    def reset_faults(self) -> None:
        """Begin to lead all drives back to operation.

        Not while a joint isn't where it can be: it would be driven through whole turns.
        """
        self._asked_errors.clear()
        try:
            self.frame.find_turns(self._ring.image)
        except TurnsError as error:
            self._ring.walk.disable(np.ones(len(self._settings.joints), dtype=bool))
            self.supervisor.remark(str(error))
            return
        self._recovery.begin()
        self.supervisor.remark("")

    def _take(self, future: Future[tuple[SdoResult, ...]], *, write: bool) -> None:
        self._answers.append((future.result(), write))

    def _note_answers(self) -> None:
        while self._answers:
            results, write = self._answers.popleft()
            for result in results:
                self.mailed[result.status] += 1
            self._watch.take(results, write=write)
            if write:
                failed = {it.object.slave for it in results if it.status in _IN_DOUBT}
                self._read_gains(sorted(failed))

    def _look_at_states(self) -> None:
        """A full working counter doesn't prove OP, nor does a statusword that is old.

        Where nothing comes back nothing is learned: that is for the exchanges to count.
        """
        if not self._ring.answered:
            return
        states = self._all_in_op if self._master.all_in_op else self._master.states()
        if all(status.state is AlState.NONE for status in states):
            return
        self.states = states
        self.supervisor.take_states(self.states)
        for slave, status in enumerate(self.states):
            if status.state not in (AlState.SAFEOP, AlState.OP):
                self._watch.slave_lost(slave)
        if self._recovery.active:
            self._recovery.step(self.states)
            if not self._recovery.active:
                self._recovered()

    def _recovered(self) -> None:
        self.supervisor.remark(self._recovery.remark)
        self._read_gains(self._recovery.recovered)

    def _read_gains(self, slaves: Sequence[int]) -> None:
        reads = tuple(SdoObject(slave, *key) for slave in slaves for key in REGISTERS)
        if reads:
            self.submit(SdoBatch(reads, write=False))

    def _fetch_errors(self) -> None:
        """Once for every drive that has left operation."""
        if not self.supervisor.faulty.any():
            self._asked_errors.clear()
            return
        for slave in np.flatnonzero(self.supervisor.faulty).tolist():
            if slave not in self._asked_errors and not self._refusal(slave, _READING):
                self._asked_errors.add(slave)
                wanted = tuple(SdoObject(slave, *key) for key in _ERROR_OBJECTS)
                future = self._ring.submit(SdoBatch(wanted, write=False))
                future.add_done_callback(partial(self._take_errors, slave))

    def _take_errors(self, slave: int, future: Future[tuple[SdoResult, ...]]) -> None:
        codes = tuple(
            int.from_bytes(result.object.data, "little") & 0xFFFF
            for result in future.result()
            if result.status is SdoStatus.DONE and any(result.object.data)
        )
        if codes:
            self.supervisor.take_errors(slave, codes)

    def _emergency(self, slave: int, emergency: Emergency) -> None:
        self.emergencies += 1
        if emergency.code:
            self.supervisor.take_errors(slave, (emergency.code,))

    def _refusal(self, slave: int, batch: SdoBatch) -> str:
        """Why the slave may not be sent an object of the batch now; empty if it may."""
        status = self.states[slave]
        if status.state is not AlState.OP or status.error:
            return f"slave {slave} is not in OP: {status}"
        silence = self._clock() - self._ring.last_answer
        if silence > max(FRESH_PERIODS * self._settings.period, FRESH):
            return f"no exchange of process data for {silence * 1e3:.0f} ms"
        if not batch.write:
            return ""
        watch = self._watch
        if (batch.mode, batch.number) != (watch.mode, watch.number):
            return (
                f"meant for mode {batch.mode} under switch number {batch.number}; in force is "
                f"{int(watch.mode)} under {watch.number}"
            )
        return self.gate_obstacle() or self._pull(slave, batch)

    def _pull(self, slave: int, batch: SdoBatch) -> str:
        """Why the batch may not make the drive stiff: a limp joint would be pulled to its target.

        The whole batch waits: half of it may be worse than nothing.
        """
        distance = self._ring.targets.left_behind(slave)
        if not distance or self.frame.to_ring(self._watch.stiff)[slave]:
            return ""
        if not any(it.slave == slave and stiffens(it) for it in batch.objects):
            return ""
        return (
            f"{self._settings.joint_at[slave]} may be limp, and its target is {distance:.2f} rad "
            "away: stiff, it would be pulled there. The target creeps after the joint until the "
            "velocity feed-forward 0x2382:03 is read back as 0"
        )

    def gate_obstacle(self) -> str:
        """Why nothing may be written to any drive now; empty if it may. From any thread."""
        return self._gate.obstacle(self._clock())

    def _writable(self, slave: int) -> bool:
        mode, number = int(self._watch.mode), self._watch.number
        return not self._refusal(slave, SdoBatch((), write=True, mode=mode, number=number))


_READING: Final = SdoBatch((), write=False)
