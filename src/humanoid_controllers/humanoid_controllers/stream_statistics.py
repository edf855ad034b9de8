"""Rate, jitter, loss and latency of a stream of messages. No ROS."""

from dataclasses import dataclass, field
from typing import Final

import numpy as np

TURNS: Final = 3  # messages with rising, and with falling numbers: those of two senders alternate
MOST: Final = 20_000  # arrivals that a window stores: more than arrive in a second


@dataclass(slots=True)
class _Window:
    """The arrivals since the figures were last taken."""

    arrivals: list[float] = field(default_factory=list)  # [s]
    latencies: list[float] = field(default_factory=list)  # [s]
    risen: int = 0  # messages with a higher number than all before
    fallen: int = 0  # the others


class StreamStatistics:
    """Measures a stream from the arrivals of its messages.

    * Rate, intervals and jitter, the standard deviation of the intervals: always.
    * Lost and out of order: by the sequence number that the sender's middleware counts. Numbers
      that begin again at 1 are those of another sender.
    * Latency: from the sender's stamp to the arrival. The clocks of both computers must agree.

    One thread calls `arrived`, another one `take_figures`.

    Attributes:
        alternates: whether the numbers of the latest figures rose and fell in turns.
    """

    def __init__(self) -> None:
        self._window = _Window()
        self._latest: int | None = None  # sequence number
        self._lost = self._reordered = 0
        self.alternates = False

    def arrived(self, at: float, sequence: int | None = None, sent: float | None = None) -> None:
        """Count a message.

        Args:
            at: its arrival [s].
            sequence: its number; None if the middleware gives none.
            sent: its stamp [s], of the same clock; None if the sender gives none.
        """
        window = self._window
        if len(window.arrivals) < MOST:
            window.arrivals.append(at)
            if sent is not None:
                window.latencies.append(at - sent)
        if sequence is not None:
            self._count(window, sequence)

    def take_figures(self) -> dict[str, str]:
        """Return the figures since the latest call, lost and out of order since the start."""
        window, self._window = self._window, _Window()
        self.alternates = min(window.risen, window.fallen) >= TURNS
        found: dict[str, str] = {}
        intervals = np.diff(window.arrivals)
        if intervals.sum() > 0.0:
            found["rate [Hz]"] = f"{1.0 / intervals.mean():.1f}"
            found["interval max [ms]"] = _ms(intervals.max())
            found["jitter [ms]"] = _ms(intervals.std())
        if self._latest is not None:
            found["lost"], found["out of order"] = str(self._lost), str(self._reordered)
        if window.latencies:
            found["latency median [ms]"] = _ms(np.median(window.latencies))
            found["latency max [ms]"] = _ms(max(window.latencies))
        return found

    def _count(self, window: _Window, sequence: int) -> None:
        latest = self._latest
        if latest is None or sequence == 1:
            self._latest = sequence
        elif sequence > latest:
            self._lost += sequence - latest - 1
            self._latest = sequence
            window.risen += 1
        else:  # counted as lost when the later one came
            self._reordered += 1
            window.fallen += 1
            self._lost = max(self._lost - 1, 0)


def _ms(seconds: float | np.floating) -> str:
    return f"{seconds * 1e3:.2f}"
