"""Statistics of a stream's times, for people."""

from collections import deque
from dataclasses import dataclass
from typing import Final

import numpy as np

KEPT: Final = 100_000  # values of each kind


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Quantiles of times [ms]; NaN without any."""

    count: int
    p50: float
    p99: float
    largest: float

    def __str__(self) -> str:
        if not self.count:
            return "none"
        return f"p50 {self.p50:.2f} ms, p99 {self.p99:.2f} ms, max {self.largest:.2f} ms"


@dataclass(frozen=True, slots=True)
class LatencyReport:
    """Times of a stream."""

    one_way: Quantiles  # from `send` to the server's receipt, by the synchronized clock
    echo: Quantiles  # from `send` to the state that has its key as applied
    state_gap: Quantiles  # between the arrivals of two states

    def __str__(self) -> str:
        return f"one way: {self.one_way}\necho: {self.echo}\nstate gap: {self.state_gap}"


class Times:
    """Collects times [ns], the latest KEPT."""

    def __init__(self) -> None:
        self._values: deque[int] = deque(maxlen=KEPT)

    def add(self, value: int) -> None:
        """Take one time [ns]."""
        self._values.append(value)

    def quantiles(self) -> Quantiles:
        """Return what was collected."""
        values = np.array(self._values, dtype=np.float64) * 1e-6
        if not len(values):
            return Quantiles(0, np.nan, np.nan, np.nan)
        p50, p99 = np.quantile(values, (0.5, 0.99))
        return Quantiles(len(values), float(p50), float(p99), float(values.max()))
