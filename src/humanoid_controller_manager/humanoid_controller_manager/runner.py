"""Runs a control loop in a thread of its own, paced, until it is told to stop."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from humanoid_control_common.ending_times import HANGING_LOOP
from humanoid_control_common.errors import ControllerError
from humanoid_controller_manager.loop import ControlLoop
from humanoid_controller_manager.realtime import LOOP_PRIORITY, make_thread_realtime
from humanoid_controller_manager.snapshot import Snapshot
from humanoid_controller_manager.timing import Pacer, TimingStatistics

PATIENCE: Final = HANGING_LOOP  # [s] for the last tick; whoever asked this to end waits longer


class LoopRunner:
    """The loop's thread.

    Where a component provides time (a simulator) the loop runs on it, paced by its real-time
    factor; otherwise on the monotonic clock.

    Args:
        publish: given every snapshot, in the loop's thread; must not block.
        realtime: ask for SCHED_FIFO; never done for a simulator, which needs no deadline.
    """

    def __init__(
        self,
        loop: ControlLoop,
        update_rate: float,
        publish: Callable[[Snapshot], None],
        *,
        realtime: bool = True,
    ) -> None:
        self.statistics = TimingStatistics()
        self.realtime_state = "not asked for"
        self.failure: BaseException | None = None
        self._loop = loop
        self._publish = publish
        self.realtime = realtime and not loop.hardware.simulates_time
        factor = loop.hardware.real_time_factor
        # [s] of wall time between two ticks; 0: it does not keep pace with it
        self.wall_period = 0.0 if factor == 0.0 else 1.0 / (update_rate * factor)
        self._stopping = False
        self._thread = threading.Thread(target=self._run, name="control_loop", daemon=True)

    @property
    def paced(self) -> bool:
        """Whether the loop keeps pace with wall time."""
        return self.wall_period > 0.0

    def now(self) -> float:
        """The loop's time [s]: simulated where a component provides it, else monotonic."""
        hardware = self._loop.hardware
        return hardware.time if hardware.simulates_time else time.monotonic()

    def start(self, initial: str) -> None:
        """Bring the hardware up and start the thread.

        Raises what ControlLoop.start raises, RuntimeError if there is no thread to be had; the
        hardware is inactive then, notes say which joints may not be.
        """
        self._loop.hardware.read_time()
        self._loop.start(initial, self.now())
        try:
            self._thread.start()
        except Exception as error:
            self._stop_loop(error)
            raise

    def stop(self) -> None:
        """End the thread after its tick, then deactivate the hardware.

        A tick that does not end is not waited for: motors without a watchdog would hold on.

        Raises ExceptionGroup of what could not be deactivated, ControllerError if a tick hangs.
        """
        self._stopping = True
        self._thread.join(PATIENCE + self.wall_period)
        if self._thread.is_alive():
            controller = self._loop.snapshot.controller
            self._loop.abandon()
            raise ControllerError(
                f"the control loop hangs ('{controller}' was in charge): the joints were disabled "
                "from outside of it"
            )
        self._loop.stop()

    def is_running(self) -> bool:
        """Whether the thread is alive."""
        return self._thread.is_alive()

    def _stop_loop(self, error: Exception) -> None:
        """Deactivate the hardware because of `error`, which is told what cannot be."""
        try:
            self._loop.stop()
        except ExceptionGroup as failures:
            for failure in failures.exceptions:
                error.add_note(f"{failures.message}: {failure}")

    def _run(self) -> None:
        if self.realtime:
            self.realtime_state = make_thread_realtime(LOOP_PRIORITY) or "granted"
        try:
            self._cycle()
        except BaseException as error:
            self.failure = error
            raise

    def _cycle(self) -> None:
        loop, statistics, now = self._loop, self.statistics, self.now
        hardware = loop.hardware
        pacer = Pacer(self.wall_period, statistics, idle_until=hardware.idle_until)
        hardware.read_time()
        last = now()
        pacer.wait()
        while not self._stopping:
            started = time.perf_counter()
            hardware.read_time()
            current = now()
            loop.tick(current, current - last, now)
            last = current
            self._publish(loop.snapshot)
            statistics.record(started, time.perf_counter() - started)
            pacer.wait(hardware.tick_correction())
