"""The virtual ring as a whole: frames in, frames out. No sockets, no wall clock."""

from collections.abc import Sequence

from humanoid_twin.clock import NEVER, SimulatedTime
from humanoid_twin.ethercat.esc import registers as reg
from humanoid_twin.ethercat.esc.datagrams import Dispatcher
from humanoid_twin.ethercat.esc.logical import LogicalMemory
from humanoid_twin.ethercat.esc.slave import Slave
from humanoid_twin.ethercat.esc.slave_chain import SlaveChain
from humanoid_twin.ethercat.firmware import STEP, Firmware
from humanoid_twin.ethercat.log import RingLog
from humanoid_twin.ethercat.parameters import SlaveParameters


class VirtualRing:
    """N slaves in a line and the drives behind them: one bus of the robot (see Scheduler).

    The caller sets the time: `run` and `step` do what is due, `answer` passes a frame at the time
    reached.
    """

    def __init__(
        self,
        drives: Sequence[Firmware],
        simulated_time: SimulatedTime,
        parameters: SlaveParameters | None = None,
    ) -> None:
        """Make one slave for each of `drives`, in ring order."""
        self.simulated_time = simulated_time
        self.log = RingLog(self.simulated_time)
        self.frames = 0
        parameters = parameters or SlaveParameters()
        self.slaves = [self._slave(drive, parameters) for drive in drives]
        self.chain = SlaveChain(self.slaves)
        self._logical = LogicalMemory(self.chain)
        self._dispatcher = Dispatcher(self.chain, self._logical)
        self.next_event = NEVER  # [ns] ring time of the next SYNC0 of any slave
        self._due: float = 0  # [ns] ring time of the next work of any slave (see Slave.due)
        self._running: Sequence[Firmware] = drives
        for slave in self.slaves:
            slave.on_change = self.changed
            slave.esc.on(
                reg.FMMU, 0x280, after_write=lambda _address, _data: self._logical.forget()
            )

    def _slave(self, drive: Firmware, parameters: SlaveParameters) -> Slave:
        def note(kind: str, detail: dict[str, int | str | bool]) -> None:
            self.log.add(self.chain.slaves.index(slave), kind, detail)

        slave = Slave(drive, parameters, self.simulated_time, note)
        return slave

    @property
    def process_data_frames(self) -> int:
        """Logical datagrams so far."""
        return self._logical.datagrams

    @property
    def now(self) -> int:
        """Ring time reached [ns]."""
        return self.simulated_time.now

    def answer(self, frame: memoryview) -> bool:
        """Pass a frame through the slaves, in place. Return whether an answer comes back."""
        self.frames += 1
        self._due = 0
        return self._dispatcher.answer(frame)

    def damage(self, frame: memoryview, reached: int) -> None:
        """Pass a frame that is damaged behind the first `reached` slaves."""
        self.frames += 1
        self._due = 0
        self._logical.forget()
        with self.chain.only(reached):
            self._dispatcher.answer(frame)
        self.chain.count_damage(reached)
        self._logical.forget()

    def changed(self) -> None:
        """Follow a change of a slave's state or timing that no frame has made, or of the line."""
        self._logical.forget()
        self._due = 0
        self._running = [slave.firmware for slave in self.slaves if slave.running]
        self.next_event = min(slave.clock.next_event for slave in self.slaves)

    def run(self, now: int) -> None:
        """See SimulatedBus: SYNC0 of all slaves for which it is due."""
        for slave in self.slaves:
            if slave.clock.next_event <= now:
                slave.sync0()
        self.next_event = min([slave.clock.next_event for slave in self.slaves])

    def step(self) -> None:
        """See SimulatedBus: a millisecond of all running drives."""
        for firmware in self._running:
            firmware.step(STEP)

    def tick(self) -> None:
        """See SimulatedBus: the slaves' work, in most milliseconds none."""
        if self.simulated_time.now >= self._due:
            for slave in self.slaves:
                slave.tick()
            self._due = min(slave.due for slave in self.slaves)
