"""Sleep that a signal handler or another thread can end."""

from humanoid_control_common.machine.lock_event import LockEvent


class InterruptibleSleep:
    """Sleep on a LockEvent: unlike an Event's lock it may be used from a signal handler."""

    def __init__(self) -> None:
        self._woken = LockEvent()
        self.stopping = False

    def wake(self) -> None:
        """End the present sleep, or the next one."""
        self._woken.set()

    def stop(self, *_: object) -> None:
        """Set `stopping` and wake; usable as a signal handler, any number of times."""
        self.stopping = True
        self.wake()

    def sleep(self, duration: float) -> None:
        """Return after `duration` [s], or sooner if woken."""
        self._woken.wait(duration)
        self._woken.clear()
