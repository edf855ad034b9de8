"""Cyclic synchronous position: from a target per SYNC0 to a demand per millisecond."""

from humanoid_twin.erob.parameters import TICK


class CspInterpolator:
    """Straight lines between targets, each over the SYNC0 period before it (assumed).

    The period is measured between the last two targets, as SYNC0 alone latches them.
    """

    __slots__ = ("_longest", "_remaining", "_since_target", "_target", "speed", "value")

    def __init__(self, longest: float) -> None:
        self._longest = max(1, round(longest / TICK))  # [ticks]
        self._since_target = 0
        self.value = 0.0  # [counts]
        self.speed = 0.0  # [counts/s] of the demand, in the latest tick
        self.hold(0.0)

    def hold(self, position: float) -> None:
        """Demand this position [counts] until the next target."""
        self.value = self._target = float(position)
        self._remaining = 0
        self.speed = 0.0

    def aim(self, target: int, ticks: int | None = None) -> None:
        """Latch a target [counts]: reach it after `ticks`, by default one SYNC0 period."""
        self._target = float(target)
        ticks = self._since_target if ticks is None else ticks
        self._remaining = min(self._longest, max(1, ticks))
        self._since_target = 0

    def tick(self) -> float:
        """Advance by one millisecond. Return the demand [counts]."""
        self._since_target += 1
        self.speed = 0.0
        if self._remaining:
            step = (self._target - self.value) / self._remaining
            self.value += step
            self.speed = step / TICK
            self._remaining -= 1
        return self.value
