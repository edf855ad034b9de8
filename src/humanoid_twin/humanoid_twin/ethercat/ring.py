"""The virtual ring as a whole: frames in, frames out. No sockets, no wall clock."""

from collections.abc import Sequence

from humanoid_twin.clock import Moment
from humanoid_twin.ethercat import registers as reg
from humanoid_twin.ethercat.dispatch import Dispatcher
from humanoid_twin.ethercat.firmware import STEP, Firmware
from humanoid_twin.ethercat.line import Line
from humanoid_twin.ethercat.log import RingLog
from humanoid_twin.ethercat.logical import LogicalMemory
from humanoid_twin.ethercat.parameters import SlaveParameters
from humanoid_twin.ethercat.slave import Slave


class VirtualRing:
    """N slaves in a line and the drives behind them: one side of the robot (see World).

    Time is told by the caller: `run` and `step` do what is due, `answer` lets a frame pass at the
    moment reached.
    """

    def __init__(
        self,
        drives: Sequence[Firmware],
        moment: Moment,
        parameters: SlaveParameters | None = None,
    ) -> None:
        """One slave for each of `drives`, in ring order."""
        self.moment = moment
        self.log = RingLog(self.moment)
        self.frames = 0
        parameters = parameters or SlaveParameters()
        self.slaves = [self._slave(drive, parameters) for drive in drives]
        self.line = Line(self.slaves)
        self._logical = LogicalMemory(self.line)
        self._dispatcher = Dispatcher(self.line, self._logical)
        self.next_event = 1 << 63  # [ns] ring time of the next SYNC0 of any slave
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

    def damage(self, frame: memoryview, reached: int) -> None:
        """Let a frame pass that is damaged behind the first `reached` slaves."""
        self.frames += 1
        self._logical.forget()
        with self.line.only(reached):
            self._dispatcher.answer(frame)
        self.line.count_damage(reached)
        self._logical.forget()

    def changed(self) -> None:
        """The line, an AL state or SYNC0 has changed."""
        self._logical.forget()
        self.next_event = min(slave.clock.next_event for slave in self.slaves)

    def run(self, now: int) -> None:
        """SYNC0 of all slaves for which it is due."""
        for slave in self.slaves:
            if slave.clock.next_event <= now:
                slave.sync0()
        self.next_event = min(slave.clock.next_event for slave in self.slaves)

    def step(self) -> None:
        """See Side: a millisecond of all drives that live."""
        for slave in self.slaves:
            if slave.powered and not slave.frozen:
                slave.firmware.step(STEP)

    def tick(self) -> None:
        """See Side."""
        for slave in self.slaves:
            slave.tick()
