"""An Event for threads that are woken some hundred times a second."""

from threading import Event, Lock


class LockEvent(Event):
    """An Event of one lock, free while the event is set. `set` takes a third of an Event's time.

    One thread waits and clears; any thread sets.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._lock.acquire()

    def is_set(self) -> bool:
        """See Event."""
        return not self._lock.locked()

    def set(self) -> None:
        """See Event."""
        if self._lock.locked():
            try:
                self._lock.release()
            except RuntimeError:  # another thread has released it meanwhile
                return

    def clear(self) -> None:
        """See Event."""
        self._lock.acquire(blocking=False)

    def wait(self, timeout: float | None = None) -> bool:
        """See Event."""
        if not self._lock.acquire(timeout=-1 if timeout is None else max(timeout, 0.0)):
            return False
        self.set()  # until `clear`
        return True
