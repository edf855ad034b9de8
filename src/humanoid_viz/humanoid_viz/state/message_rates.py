"""Streams of messages: latest values, age and rate."""

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from humanoid_viz.state.state import StreamState

# [s] age at which a stream counts as stopped. All streams shown flow at 50 Hz or more.
LOST_AFTER = 1.0
# [s] over which a rate is counted.
RATE_WINDOW = 1.0

Values = tuple[float | None, float | None, float | None]
UNKNOWN: Values = (None, None, None)


@dataclass(slots=True)
class Arrivals:
    """Arrival times [s, monotonic] of the last second."""

    _times: deque[float] = field(default_factory=deque, init=False)

    def add(self, times: Iterable[float]) -> None:
        """Add arrivals at `times` [s], oldest first."""
        self._times.extend(times)
        while self._times and self._times[0] < self._times[-1] - RATE_WINDOW:
            self._times.popleft()

    def age(self, now: float) -> float | None:
        """Return the time since the last arrival [s]; None if there was none."""
        return max(0.0, now - self._times[-1]) if self._times else None

    def flow(self, now: float) -> StreamState:
        """Return the flow at `now` [s]."""
        age = self.age(now)
        if age is None:
            return StreamState.NEVER
        return StreamState.LOST if age > LOST_AFTER else StreamState.FLOWING

    def rate(self, now: float) -> float | None:
        """Return the rate [Hz]; None if arrivals stopped or there are not two of them."""
        if self.flow(now) is not StreamState.FLOWING or len(self._times) < 2:
            return None
        duration = self._times[-1] - self._times[0]
        return (len(self._times) - 1) / duration if duration > 0 else None


@dataclass(slots=True)
class JointStream:
    """The latest three values of every joint in a stream of joint messages."""

    arrivals: Arrivals = field(default_factory=Arrivals, init=False)
    _values: Mapping[str, Values] = field(default_factory=dict, init=False)

    def put(
        self, names: Sequence[str], columns: Sequence[Sequence[float]], times: Iterable[float]
    ) -> None:
        """Put the values of the latest message, and the arrival times of all.

        Args:
            names: joints, as the message lists them.
            columns: three columns; a value is unknown if it is not finite or if its column is not
                as long as `names` (an empty column is that of a message without these values).
            times: [s, monotonic], oldest first.
        """
        first, second, third = (
            column if len(column) == len(names) else [math.nan] * len(names) for column in columns
        )
        self._values = {
            name: (_known(a), _known(b), _known(c))
            for name, a, b, c in zip(names, first, second, third, strict=True)
        }
        self.arrivals.add(times)

    def __getitem__(self, name: str) -> Values:
        return self._values.get(name, UNKNOWN)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __contains__(self, name: str) -> bool:
        return name in self._values


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None
