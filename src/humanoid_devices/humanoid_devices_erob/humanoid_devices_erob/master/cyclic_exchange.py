"""Exchange of process data at a steady rate in the calling thread, until a condition is met."""

import threading
from collections.abc import Callable
from typing import Final

import numpy as np

from humanoid_devices_erob.master.ring import Ring

DISABLE_TIMEOUT: Final = 0.5  # [s] for all drives to leave operation


class CyclicExchange:
    """The exchange while no control loop runs: targets of enabled drives creep after their joints.

    Args:
        period: [s] from exchange to exchange.
        stop: ends every `until` early.
    """

    def __init__(self, ring: Ring, period: float, stop: threading.Event) -> None:
        self._ring, self._period, self._stop = ring, period, stop
        self._next = ring.machine.clock()

    def until(
        self,
        done: Callable[[], bool],
        timeout: float,
        work: Callable[[float], None] | None = None,
    ) -> bool:
        """Exchange until `done`, checked after each exchange; False after `timeout` [s] or `stop`.

        `work` is called in the rest of each period, with the time [s] when it must return.
        """
        machine = self._ring.machine
        end = machine.clock() + timeout
        while True:
            self._ring.exchange()
            if done():
                return True
            if self._stop.is_set() or machine.clock() > end:
                return False
            self._next += self._period + self._ring.lock.take_correction()
            if work is not None:
                work(self._next)
            self._wait()

    def disable_all(self, still: Callable[[], bool]) -> bool:
        """Lead all drives out of operation: a drive that leaves OP while enabled goes into fault.

        Return False if `still` reports enabled drives after DISABLE_TIMEOUT. Waits at least until
        the drives have taken the last controlword, at SYNC0.
        """
        sequencer, ring = self._ring.sequencer, self._ring
        sequencer.disable(np.ones(ring.image.count, dtype=bool))
        settled = ring.machine.clock() + sequencer.hold * self._period
        return self.until(lambda: ring.machine.clock() >= settled and not still(), DISABLE_TIMEOUT)

    def _wait(self) -> None:
        machine = self._ring.machine
        left = self._next - machine.clock()
        if left > 0.0:
            machine.sleep(left)
        else:
            self._next -= left  # late: continue from here without catching up
