"""The thread that passes snapshots to their listeners, so that the loop never waits."""

import logging
from collections.abc import Sequence

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine, Thread
from humanoid_control_common.machine.realtime import COMPANION_PRIORITY
from humanoid_controller_manager.loop.latest_value import LatestValue
from humanoid_controller_manager.loop.snapshot import Snapshot, SnapshotListener
from humanoid_controller_manager.plugin_texts import PLUGIN_ERRORS

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

    def listen(self, listeners: Sequence[SnapshotListener]) -> None:
        """Replace the listeners from the next snapshot on. Called by any thread."""
        self._listeners = tuple(listeners)

    def start(self) -> None:
        """Start the thread."""
        self._thread = self._machine.start("publisher", self._run)

    def put(self, snapshot: Snapshot) -> None:
        """Leave `snapshot`; called by the loop's thread only."""
        self._latest.put(snapshot)
        self._wake.set()

    def stop(self) -> None:
        """Publish the last snapshot and end the thread."""
        self._stopping = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        if self._realtime:
            self._machine.make_realtime(COMPANION_PRIORITY)  # the loop's thread reports the result
        while not self._stopping:
            self._machine.wait(self._wake)
            self._wake.clear()  # before taking: a snapshot left meanwhile wakes again
            self._publish()
            if self._minimum_interval > 0.0 and not self._stopping:
                self._machine.sleep(self._minimum_interval)
        self._publish()

    def _publish(self) -> None:
        snapshot = self._latest.take()
        if snapshot is not None:
            self.overwritten += snapshot.tick - self._last - 1
            self._last = snapshot.tick
            for listener in self._listeners:
                self._call(listener, snapshot)

    def _call(self, listener: SnapshotListener, snapshot: Snapshot) -> None:
        try:
            listener(snapshot)
        except PLUGIN_ERRORS:
            # A broken listener must not silence the others. Log it once.
            if not any(listener is it for it in self._failed):
                self._failed.append(listener)
                logger.exception("%s failed to publish", listener)
