"""The thread that runs the control loop, tick by tick, until `stop`."""

from collections.abc import Callable
from typing import Final

from humanoid_control_common.ending_times import HANGING_LOOP
from humanoid_control_common.errors import ControllerError
from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine, Thread
from humanoid_control_common.machine.realtime import LOOP_PRIORITY
from humanoid_controller_manager.loop.control_loop import ControlLoop
from humanoid_controller_manager.loop.pacing import Pacer, TimingStatistics
from humanoid_controller_manager.loop.snapshot import Snapshot

JOIN_TIMEOUT: Final = HANGING_LOOP  # [s] for the last tick


class LoopThread:
    """Calls `tick` on time.

    Where a component provides time (a simulator) the loop runs on that time, paced by the real-time
    factor; otherwise on the monotonic clock.

    Args:
        publish: called with every snapshot, in the loop's thread; must not block.
        machine: its clocks and threads.
    """

    def __init__(
        self,
        loop: ControlLoop,
        update_rate: float,
        publish: Callable[[Snapshot], None],
        machine: Machine = LINUX,
    ) -> None:
        self.statistics = TimingStatistics()
        self.realtime_state = "not requested"
        self.failure: BaseException | None = None
        self._loop, self._machine = loop, machine
        self._publish = publish
        self.on_last_tick: Callable[[], None] = lambda: None  # called in the loop's thread
        self.realtime = not loop.hardware.simulates_time  # a simulator has no deadline
        factor = loop.hardware.real_time_factor
        # [s] of wall time between two ticks; 0: as fast as possible
        self.wall_period = 0.0 if factor == 0.0 else 1.0 / (update_rate * factor)
        self._stopping = False
        self._thread: Thread | None = None

    @property
    def paced(self) -> bool:
        """True if the loop keeps pace with wall time."""
        return self.wall_period > 0.0

    def now(self) -> float:
        """Return the loop's time [s]: simulated where a component provides it, else monotonic."""
        hardware = self._loop.hardware
        return hardware.time if hardware.simulates_time else self._machine.clock()

    def start(self, initial: str) -> None:
        """Activate the hardware and start the thread.

        Raises what ControlLoop.start raises, and RuntimeError if no thread can be started. The
        hardware is inactive then; notes name the joints that may not be.
        """
        self._loop.hardware.read_time()
        self._loop.start(initial, self.now())
        try:
            self._thread = self._machine.start("control_loop", self._run)
        except Exception as error:
            try:
                self._loop.stop()
            except ExceptionGroup as failures:
                for failure in failures.exceptions:
                    error.add_note(f"{failures.message}: {failure}")
            raise

    def stop(self) -> None:
        """End the thread after its tick, then deactivate the hardware.

        The call does not wait for a tick that hangs: motors without a watchdog would keep their
        torque.

        Raises ExceptionGroup of the components' errors, ControllerError if a tick hangs.
        """
        self._stopping = True
        thread = self._thread
        if thread is not None:
            thread.join(JOIN_TIMEOUT + self.wall_period)
        if thread is not None and thread.is_alive():
            controller = self._loop.snapshot.controller
            self._loop.abandon()
            raise ControllerError(
                f"the control loop hangs ('{controller}' was in charge): the joints were disabled "
                "from outside of it"
            )
        self._loop.stop()

    def is_running(self) -> bool:
        """Return whether the thread is alive."""
        return self._thread is not None and self._thread.is_alive()

    def _run(self) -> None:
        if self.realtime:
            self.realtime_state = self._machine.make_realtime(LOOP_PRIORITY) or "granted"
        try:
            self._cycle()
        except BaseException as error:
            self.failure = error
            raise

    def _cycle(self) -> None:
        loop, statistics, now = self._loop, self.statistics, self.now
        hardware = loop.hardware
        clock = self._machine.clock
        pacer = Pacer(self.wall_period, statistics, self._machine, hardware.idle_until)
        hardware.read_time()
        last = now()
        pacer.wait()
        while not self._stopping:
            started = clock()
            hardware.read_time()
            current = now()
            loop.tick(current, current - last, now)
            last = current
            self._publish(loop.snapshot)
            statistics.record(started, clock() - started)
            pacer.wait(hardware.tick_correction())
        self.on_last_tick()
