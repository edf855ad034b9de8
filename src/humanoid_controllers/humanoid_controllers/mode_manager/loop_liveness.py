"""Detect that the control loop stands still and cannot execute requests."""

from typing import Final

from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_controller_manager.reason_codes import LOOP_STANDS_STILL

LONGEST_TICK: Final = 1.0  # [s] of wall time; the slowest loop has ticks of 0.1 s


class LoopLiveness:
    """Judges the loop by its tick number, on the monotonic clock.

    A controller or a component that does not return stops the loop. Then no request reaches the
    joints, and the mode stated last is not what the joints do.
    """

    def __init__(self) -> None:
        self._tick: int | None = None
        self._since = 0.0

    def problem(self, tick: int, now: float) -> Reason:
        """Return why the loop cannot be relied on at `now` [s], if so.

        `tick` is the number of its latest tick.
        """
        if tick != self._tick:
            self._tick, self._since = tick, now
        still = now - self._since
        if still <= LONGEST_TICK:
            return NO_REASON
        return Reason.of(
            LOOP_STANDS_STILL,
            f"control loop stands still for {still:.0f} s: only the drives' own watchdogs act; "
            "end this process or cut the power",
        )
