"""Requests on /control_mode that come late: their stamps are those of old statements."""

from collections import deque

from humanoid_control_common.rules.modes import Intent, refusal
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_controller_manager.ros.topics.message_age import LATEST
from humanoid_controllers.reason_codes import REQUEST_LATE


class RecentStatements:
    """The stamps of the statements of the last `LATEST` seconds.

    The stamp of a request is that of the latest statement its sender has received. So no clock of
    the sender counts, and no rate of a simulation.
    """

    def __init__(self) -> None:
        self._sent: deque[tuple[float, int]] = deque()  # [s] of the monotonic clock, stamp [ns]

    def add(self, stamp: int, now: float) -> None:
        """Add a statement with `stamp` [ns] that is sent at `now` [s]."""
        self._sent.append((now, stamp))
        while self._sent[0][0] < now - LATEST:
            self._sent.popleft()

    def late_refusal(self, intent: Intent, stamp: int, decided: int, in_force: int) -> Reason:
        """Return why a request with `stamp` [ns] is refused; DAMP, and one without stamp, is not.

        A link that comes back delivers what was requested meanwhile: see the gamepad. So is one
        that was `decided` on another switch number, unless 0, than that `in_force`.
        """
        if intent is not Intent.DAMP and decided not in (0, in_force):
            text = f"it was decided on switch number {decided}, in force is {in_force}"
            return refusal(intent, Reason.of(REQUEST_LATE, text))
        if intent is Intent.DAMP or stamp == 0 or not self._sent or stamp >= self._sent[0][1]:
            return NO_REASON
        text = (
            f"it was sent to a statement of more than {LATEST:g} s ago: its connection was "
            "interrupted, or a clock was set"
        )
        return refusal(intent, Reason.of(REQUEST_LATE, text))
