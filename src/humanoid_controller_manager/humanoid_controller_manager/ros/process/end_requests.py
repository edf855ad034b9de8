"""Requests to end a control process, by signals. The module imports nothing slow."""

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType

from humanoid_control_common.ending_times import AGAIN
from humanoid_control_common.machine.stop_signals import STOP_SIGNALS


class CallbackNotEndingError(BaseException):
    """A signal that requests the end interrupts a callback that holds up all others.

    It is no Exception: a plug-in that catches those would continue to wait.
    """


@dataclass(slots=True)
class EndRequests:
    """Requests to end a control process. Plain flags: a signal handler must not wait for a lock."""

    in_order: bool = False  # damp the joints first, see Companion.lead_down
    at_once: bool = False
    # Whether a callback of the main thread holds up all others, which signals may interrupt then.
    held_up: Callable[[], bool] = field(default=lambda: False, compare=False)

    def end_at_once(self) -> None:
        """Request the end without a way down."""
        self.at_once = True


def end_on_signals() -> EndRequests:
    """Handle signals: SIGINT requests an ordered end; SIGTERM, or SIGINT again, one at once."""
    requests = EndRequests()
    first = 0.0

    def handle(number: int, _: FrameType | None) -> None:
        nonlocal first
        now = time.monotonic()
        if number == signal.SIGTERM or (requests.in_order and now - first >= AGAIN):
            requests.at_once = True
        elif not requests.in_order:
            first = now
            requests.in_order = True
        if requests.held_up():
            raise CallbackNotEndingError("interrupted by a signal: it held up all other callbacks")

    for number in STOP_SIGNALS:
        signal.signal(number, handle)
    return requests
