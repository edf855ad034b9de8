"""Guard conditions whose triggers are not lost.

At the end of a wait, rmw_fastrtps reads a guard condition and resets it in a second step. A trigger
of another thread between both is lost: one of some ten thousand (measured; then `hc load`, and each
one after it, waited in vain). So a guard condition keeps its trigger, and the executor looks at it
after each wait.
"""

from collections.abc import Callable
from typing import Any

from rclpy.guard_condition import GuardCondition


class KeptTriggers:
    """The part of a node, before rclpy's Node, that makes its guard conditions."""

    def create_guard_condition(self, *args: Any, **kwargs: Any) -> GuardCondition:
        """See rclpy's Node."""
        guard: GuardCondition = super().create_guard_condition(*args, **kwargs)  # type: ignore[misc]
        guard.trigger = _kept(guard, guard.trigger)
        return guard


def _kept(guard: GuardCondition, trigger: Callable[[], None]) -> Callable[[], None]:
    def keep() -> None:
        guard.kept_trigger = True  # first: a wait that ends sees it
        trigger()

    return keep


def has_kept_trigger(guard: GuardCondition) -> bool:
    """Return whether `guard` was triggered since `take_trigger`."""
    return getattr(guard, "kept_trigger", False)


def take_trigger(guard: GuardCondition) -> None:
    """Take the trigger of `guard`, before its callback is executed."""
    guard.kept_trigger = False
