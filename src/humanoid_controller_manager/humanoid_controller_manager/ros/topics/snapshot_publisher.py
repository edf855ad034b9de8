"""The thread that passes snapshots to their listeners, so that the loop never waits."""

import logging
from collections.abc import Sequence
from functools import partial
from typing import Final

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine, Thread
from humanoid_control_common.machine.realtime import COMPANION_PRIORITY
from humanoid_controller_manager.loop.latest_value import LatestValue
from humanoid_controller_manager.loop.snapshot import Snapshot, SnapshotListener
from humanoid_controller_manager.plugin_texts import PLUGIN_ERRORS

HANGING: Final = 1.0  # [s] in one call of a listener, without stalls of the thread that looks
LONGEST_LOOK: Final = 0.1  # [s] counted at most between two looks
JOIN_TIMEOUT: Final = 0.5  # [s] the end waits for the last snapshot

logger = logging.getLogger(__name__)


class SnapshotPublisher:
    """Publishes the newest snapshot; those that arrive meanwhile overwrite each other.

    Args:
        minimum_interval: wall time [s] between two publications; 0 = every snapshot.
        realtime: request SCHED_FIFO, below the loop's priority; not for a simulator.
    """

    def __init__(
        self, minimum_interval: float, machine: Machine = LINUX, *, realtime: bool = False
    ) -> None:
        self.overwritten = 0  # snapshots that the next one replaced before they were published
        self._last = 0  # the tick published last; the first is 1
        self._machine, self._realtime = machine, realtime
        self._listeners: tuple[SnapshotListener, ...] = ()
        self._minimum_interval = minimum_interval
        self._latest: LatestValue[Snapshot] = LatestValue()
        self._wake = machine.event()  # a snapshot waits, or the end
        self._stopping = False
        self._failed: list[SnapshotListener] = []  # a plug-in's may have no hash
        self._thread: Thread | None = None
        self._threads = 0  # started so far; only the latest publishes
        self._call: tuple[SnapshotListener] | None = None  # under way; another object for each
        self._left: list[SnapshotListener] = []  # those that hang
        self._seen: tuple[SnapshotListener] | None = None  # the call at the latest look
        self._looked_at = 0.0  # [s]
        self._held_up = 0.0  # [s] by that call

    def listen(self, listeners: Sequence[SnapshotListener]) -> None:
        """Replace the listeners from the next snapshot on. Called by any thread."""
        self._listeners = tuple(listeners)

    def start(self) -> None:
        """Start a thread, which takes the place of one that hangs."""
        self._threads += 1
        self._thread = self._machine.start("publisher", partial(self._run, self._threads))

    def put(self, snapshot: Snapshot) -> None:
        """Leave `snapshot`; called by the loop's thread only."""
        self._latest.put(snapshot)
        self._wake.set()

    def stop(self) -> None:
        """Publish the last snapshot and end the thread; do not wait for a listener that hangs."""
        self._stopping = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join(JOIN_TIMEOUT)

    def leave_hanging(self, now: float) -> SnapshotListener | None:
        """Return a listener that holds up the others, and go on without it; None if none does.

        To be called at least every `LONGEST_LOOK` [s], by one thread.
        """
        call, step = self._call, min(now - self._looked_at, LONGEST_LOOK)
        self._looked_at = now
        if call is None or call is not self._seen:
            self._seen, self._held_up = call, 0.0
            return None
        self._held_up += step
        if self._held_up < HANGING:
            return None
        self._left.append(call[0])
        self._call = None
        self.start()
        return call[0]

    def _run(self, thread: int) -> None:
        if self._realtime:
            self._machine.make_realtime(COMPANION_PRIORITY)  # the loop's thread reports the result
        while not self._stopping and thread == self._threads:
            self._machine.wait(self._wake)
            self._wake.clear()  # before taking: a snapshot left meanwhile wakes again
            self._publish(thread)
            if self._minimum_interval > 0.0 and not self._stopping:
                self._machine.sleep(self._minimum_interval)
        self._publish(thread)

    def _publish(self, thread: int) -> None:
        if thread != self._threads:
            return
        snapshot = self._latest.take()
        if snapshot is not None:
            self.overwritten += snapshot.tick - self._last - 1
            self._last = snapshot.tick
            for listener in self._listeners:
                if any(listener is it for it in self._left):
                    continue
                self._pass_on(listener, snapshot)
                if thread != self._threads:
                    return  # it has returned after all

    def _pass_on(self, listener: SnapshotListener, snapshot: Snapshot) -> None:
        call = self._call = (listener,)
        try:
            listener(snapshot)
        except PLUGIN_ERRORS:
            # A broken listener must not silence the others. Log it once.
            if not any(listener is it for it in self._failed):
                self._failed.append(listener)
                logger.exception("%s failed to publish", listener)
        finally:
            if self._call is call:
                self._call = None
