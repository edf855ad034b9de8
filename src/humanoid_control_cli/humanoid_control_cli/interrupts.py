"""Delay Ctrl-C while a library runs, or is imported, that must not be interrupted."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def importing() -> Iterator[None]:
    """Hold back Ctrl-C while modules are imported: raise KeyboardInterrupt at the end instead.

    An import can turn a KeyboardInterrupt into another error, or lose it: Python ignores what is
    raised in a callback of its module locks. The command would run although it was interrupted.
    Only for a process with one thread: another one would take the signal.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Interrupts:
    """Turns Ctrl-C into KeyboardInterrupt, but not within `held_back`.

    The executor of rclpy loses answers, and may not run any more, if an exception leaves it at an
    arbitrary line. To be entered by `installed`; until then, and in other threads than the main
    one, Ctrl-C stays what it is.
    """

    def __init__(self) -> None:
        self._held_back = False
        self._came = False

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Handle SIGINT, unless it is handled by others, or ignored."""
        mine = threading.current_thread() is threading.main_thread()
        if not mine or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        signal.signal(signal.SIGINT, self._take)
        try:
            yield
        finally:
            if signal.getsignal(signal.SIGINT) == self._take:  # else it was ignored meanwhile
                signal.signal(signal.SIGINT, signal.default_int_handler)

    @contextmanager
    def held_back(self) -> Iterator[None]:
        """Raise KeyboardInterrupt at the end of the block instead; a second one at once."""
        self._held_back = True
        try:
            yield
        finally:
            self._held_back = False
        if self._came:
            self._came = False
            raise KeyboardInterrupt

    def _take(self, *_: object) -> None:
        if self._held_back and not self._came:
            self._came = True
        else:
            self._came = False
            raise KeyboardInterrupt
