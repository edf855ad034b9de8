"""The event loop of the server, in a thread of its own beside the ROS node's."""

import asyncio
import select
import selectors
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class MicrosecondSelector(selectors.EpollSelector):
    """Waits with a resolution of microseconds; epoll's own waits are whole milliseconds.

    A state would be late by that rounding. `select` alone is not usable: gRPC closes descriptors
    that are still registered, which epoll then drops.
    """

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """See BaseSelector."""
        if timeout is not None and timeout > 0.0:
            select.select([self.fileno()], [], [], timeout)
            timeout = 0.0
        return super().select(timeout)


class EventLoop:
    """An asyncio event loop in a thread of its own, until `stop`."""

    def __init__(self) -> None:
        self._loop = asyncio.SelectorEventLoop(MicrosecondSelector())
        self._thread = threading.Thread(target=self._loop.run_forever, name="calls", daemon=True)
        self._thread.start()

    def call(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of `work`, which runs on the loop; raise its error."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def stop(self) -> None:
        """End the loop and what still runs on it."""
        self.call(_end_others())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _end_others() -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
