"""The virtual ring as a whole: frames in, frames out, and time. No sockets, no wall clock."""

from collections.abc import Sequence
from typing import Final

from humanoid_twin.ethercat import registers as reg
from humanoid_twin.ethercat.clock import Moment
from humanoid_twin.ethercat.dispatch import Dispatcher
from humanoid_twin.ethercat.firmware import STEP, Firmware, Physics
from humanoid_twin.ethercat.line import Line
from humanoid_twin.ethercat.log import RingLog
from humanoid_twin.ethercat.logical import LogicalMemory
from humanoid_twin.ethercat.parameters import SlaveParameters
from humanoid_twin.ethercat.slave import Slave

_STEP_TIME: Final = round(STEP * 1e9)  # [ns]


class VirtualRing:
    """N slaves in a line, their drives, and the plant these move.

    Time is told by the caller: `advance` runs what happens until then in its order, `answer` lets a
    frame pass at the time reached.
    """

    def __init__(
        self,
        drives: Sequence[Firmware],
        plant: Physics,
        parameters: SlaveParameters | None = None,
    ) -> None:
        """One slave for each of `drives`, in ring order."""
        self.moment = Moment()
        self.log = RingLog(self.moment)
        self.plant = plant
        self.frames = 0
        parameters = parameters or SlaveParameters()
        self.slaves = [self._slave(drive, parameters) for drive in drives]
        self.line = Line(self.slaves)
        self._logical = LogicalMemory(self.line)
        self._dispatcher = Dispatcher(self.line, self._logical)
        self._next_step = _STEP_TIME
        self.next_sync = 1 << 63  # [ns] ring time of the next SYNC0 of any slave
        for slave in self.slaves:
            slave.on_change = self.changed
            slave.esc.on(
                reg.FMMU, 0x280, after_write=lambda _address, _data: self._logical.forget()
            )

    def _slave(self, drive: Firmware, parameters: SlaveParameters) -> Slave:
        def note(kind: str, detail: dict[str, int | str | bool]) -> None:
            self.log.add(self.line.slaves.index(slave), kind, detail)

        slave = Slave(drive, parameters, self.moment, note)
        return slave

    @property
    def process_data_frames(self) -> int:
        """Logical datagrams so far."""
        return self._logical.datagrams

    @property
    def now(self) -> int:
        """Ring time reached [ns]."""
        return self.moment.now

    def answer(self, frame: memoryview) -> bool:
        """Let a frame pass through the slaves, in place; False if no answer comes back."""
        self.frames += 1
        return self._dispatcher.answer(frame)

    def reach(self, now: int) -> None:
        """A frame has come at ring time `now` [ns]: do first what the answer depends on.

        Between two SYNC0 nothing but mailboxes and registers can be seen from the wire, so drives
        and plant may be advanced after the answer.
        """
        if self.next_sync <= now:
            self.advance(now)
        self.moment.now = max(now, self.moment.now)

    def advance(self, now: int) -> None:
        """Run the drives, the plant and SYNC0 until ring time `now` [ns]."""
        while (event := min(self._next_step, self.next_sync)) <= now:
            self.moment.now = event
            if self.next_sync <= self._next_step:
                self._fire()
            else:
                self._step()
        self.moment.now = max(now, self.moment.now)

    def changed(self) -> None:
        """The line, an AL state or SYNC0 has changed."""
        self._logical.forget()
        self.next_sync = min(slave.clock.next_event for slave in self.slaves)

    def _fire(self) -> None:
        now = self.moment.now
        for slave in self.slaves:
            if slave.clock.next_event <= now:
                slave.sync0()
        self.next_sync = min(slave.clock.next_event for slave in self.slaves)

    def _step(self) -> None:
        self._next_step += _STEP_TIME
        for slave in self.slaves:
            if slave.powered and not slave.frozen:
                slave.firmware.step(STEP)
        self.plant.step(STEP)
        for slave in self.slaves:
            slave.tick()
