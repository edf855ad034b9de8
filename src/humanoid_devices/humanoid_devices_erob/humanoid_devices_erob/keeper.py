"""The thread that brings the ring up and keeps it cycling until the control loop takes over."""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import inf

from humanoid_control_common.errors import HardwareError
from humanoid_controller_manager.realtime import LOOP_PRIORITY, make_thread_realtime
from humanoid_devices_erob.cycle import Cycle
from humanoid_devices_erob.ring import Ring


class Keeper:
    """Runs `bring_up`, then its cycle, in a thread of its own.

    Args:
        bring_up: called in the thread; what it raises is raised by `start`.
        stop: what ends the bring-up's waiting and the cycle.
        realtime: ask for SCHED_FIFO; the loop, which takes over, will too.
    """

    def __init__(
        self, bring_up: Callable[[], tuple[Ring, Cycle]], stop: threading.Event, *, realtime: bool
    ) -> None:
        self._bring_up, self._stop, self._realtime = bring_up, stop, realtime
        self._settled = threading.Event()
        self._result: tuple[Ring, Cycle] | None = None
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="ethercat", daemon=True)

    def start(self) -> tuple[Ring, Cycle]:
        """Bring the ring up; it cycles from then on. Raises what the bring-up raises."""
        self._thread.start()
        self._settled.wait()
        if self._failure is not None:
            self._thread.join()
            raise self._failure
        if self._result is None:
            raise HardwareError("the bring-up of the ring ended without a result")
        return self._result

    def stop(self) -> Ring | None:
        """End the cycle after its present exchange: the caller does the I/O from here on.

        The ring if it is up, also where `start` was interrupted.
        """
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
        return None if self._result is None else self._result[0]

    def _run(self) -> None:
        if self._realtime:
            make_thread_realtime(LOOP_PRIORITY)
        try:
            self._result = self._bring_up()
        except BaseException as error:
            self._failure = error
            return
        finally:
            self._settled.set()
        _, cycle = self._result
        cycle.until(_never, inf)


def _never() -> bool:
    return False
