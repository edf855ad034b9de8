"""The thread that brings the ring up and keeps it cycling until the control loop takes over."""

import threading
from collections.abc import Callable
from math import inf
from typing import Final

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.machine.machine import Machine, Thread
from humanoid_control_common.machine.realtime import LOOP_PRIORITY
from humanoid_devices_erob.errors import POWER_OFF
from humanoid_devices_erob.master.cyclic_exchange import CyclicExchange
from humanoid_devices_erob.master.ring import Ring

# [s] for the thread to end. A cycle ends after its present exchange; a bring-up first disables the
# drives, and may wait for slaves that don't answer (SOEM, mailboxes: LONG_TIMEOUT).
STOP_LIMIT: Final = 8.0


class BringUpThread:
    """Runs `bring_up`, then its cycle, in a thread of its own.

    Args:
        bring_up: called in the thread; `result` raises what it raises.
        stop: ends the waits of the bring-up, and the cycle.
        machine: runs the thread, with the priority of the loop that takes over.
    """

    def __init__(
        self,
        bring_up: Callable[[], tuple[Ring, CyclicExchange]],
        stop: threading.Event,
        machine: Machine,
    ) -> None:
        self._bring_up, self._stop, self._machine = bring_up, stop, machine
        self._settled = threading.Event()
        self._result: tuple[Ring, CyclicExchange] | None = None
        self._failure: BaseException | None = None
        self._begun, self._ended = False, threading.Event()
        self._thread: Thread | None = None

    def begin(self) -> None:
        """Begin to bring the ring up. Raises RuntimeError if no thread can be started."""
        self._begun = True
        try:
            self._thread = self._machine.start("ethercat", self._run)
        except RuntimeError:
            self._begun = False
            raise

    def result(self) -> tuple[Ring, CyclicExchange]:
        """Wait until the ring is up; it cycles from then on. Raises what the bring-up raises."""
        self._machine.wait(self._settled)
        if self._failure is not None:
            if self._thread is not None:
                self._thread.join()
            raise self._failure
        if self._result is None:
            raise HardwareError("the bring-up of the ring ended without a result")
        return self._result

    def stop(self, limit: float = STOP_LIMIT) -> Ring | None:
        """End the thread, within `limit` [s], and return the ring if it is up.

        From here on the caller does the I/O. Also ends a bring-up that was interrupted.
        Raises HardwareError if the thread does not end: it still owns the ring.
        """
        self._stop.set()
        if self._begun and not self._ends(limit):
            raise HardwareError(
                f"the bring-up of the ring has not ended within {limit:g} s: drives may be "
                f"enabled or armed: {POWER_OFF}"
            )
        return None if self._result is None else self._result[0]

    def _ends(self, limit: float) -> bool:
        if self._thread is None:  # an interrupt came while it was being started
            return self._machine.wait(self._ended, limit)
        self._thread.join(limit)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self._bring_up_and_cycle()
        finally:
            self._ended.set()

    def _bring_up_and_cycle(self) -> None:
        try:
            self._machine.make_realtime(LOOP_PRIORITY)
            self._result = self._bring_up()
        except BaseException as error:
            self._failure = error
            return
        finally:
            self._settled.set()
        _, cycle = self._result
        cycle.until(lambda: False, inf)
