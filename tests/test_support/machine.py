"""A machine with the time of a test."""

from collections.abc import Callable
from threading import Event

from humanoid_control_common.machine.machine import Machine, Thread


class TestMachine(Machine):
    """A machine with the time of a test. It starts no thread; a test that sleeps overrides it."""

    __test__ = False  # for pytest, which looks for classes of tests by this name

    def __init__(
        self, clock: Callable[[], float], system_time_ns: Callable[[], int] = lambda: 0
    ) -> None:
        self._clock, self._system_time_ns = clock, system_time_ns

    def clock(self) -> float:
        """See Machine."""
        return self._clock()

    def clock_ns(self) -> int:
        """See Machine."""
        return round(self._clock() * 1e9)

    def system_time_ns(self) -> int:
        """See Machine."""
        return self._system_time_ns()

    def sleep(self, seconds: float) -> None:
        """See Machine."""
        raise NotImplementedError(f"nothing here sleeps: {seconds} s")

    def wait(self, event: Event, seconds: float | None = None) -> bool:
        """See Machine."""
        return event.is_set()

    def start(self, name: str, run: Callable[[], None]) -> Thread:
        """See Machine."""
        raise NotImplementedError(f"no thread here: {name}")

    def make_realtime(self, priority: int) -> str:
        """See Machine."""
        return ""

    def make_ros_side_realtime(self) -> None:
        """See Machine."""
