"""The room for frames and the state of an slcan adapter, from its answers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from humanoid_devices_can.bus.error_frames import ControllerState

ASK_FLAGS: Final = 0.1  # [s] between two requests for the status flags
MOST_OUTSTANDING: Final = 5  # frames without answer; the adapter may queue 10
ANSWER_TIMEOUT: Final = 0.2  # [s] after which an answer counts as lost
# Status flags (LAWICEL CAN232 manual).
_QUEUE_FULL: Final = 0x02  # of frames to be sent
_ERROR_PASSIVE: Final = 0x20
_BROKEN: Final = _ERROR_PASSIVE | 0x80  # and a bus error


class SlcanAnswers:
    """The answers to frames and to requests for the status flags.

    Frames are sent in one thread; the answers may be taken in another.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self.refused = 0  # negative answers, mostly because the adapter's queue is full
        self.has_flags = False  # the adapter answers the request for flags
        self._clock = clock
        self._accepted = 0  # positive answers; many adapters send none
        self._lost = 0  # answers that will not come
        self._sent = 0
        self._sent_at = -math.inf  # [s]
        self._flags = 0  # the latest ones
        self._flags_requested = -math.inf  # [s]
        self._sent_before_asking = 0  # frames
        self._refused_before = 0  # refusals at the latest flags
        self._off = False

    def note_sent(self, count: int) -> None:
        """Note that frames were sent."""
        self._sent_at = self._clock()
        self._sent += count

    def note_request(self) -> None:
        """Note that the status flags were requested."""
        self._flags_requested = self._clock()
        self._sent_before_asking = self._sent

    def note_open(self) -> None:
        """Note that the answers so far were those to the commands that open the adapter."""
        self.refused = self._refused_before = 0

    @property
    def is_request_due(self) -> bool:
        """Return whether the flags are to be requested again.

        An adapter that does not know the request would answer as if it refused a frame.
        """
        return self.has_flags and self._clock() - self._flags_requested > ASK_FLAGS

    def room(self) -> int:
        """Return how many frames may be sent now; answers that are overdue are not waited for."""
        answered = self._accepted + self.refused + self._lost
        if not self._accepted or self._clock() - self._sent_at > ANSWER_TIMEOUT:
            self._sent = answered  # the adapter answers no frames, or an answer was lost
        self._sent = max(self._sent, answered)  # a late answer came after all
        return MOST_OUTSTANDING - (self._sent - answered)

    def take_accepted(self) -> None:
        """Take a positive answer to a frame."""
        self._accepted += 1

    def take_refused(self) -> None:
        """Take a negative answer."""
        self.refused += 1

    def take_flags(self, flags: int) -> None:
        """Take the status flags."""
        refuses = self.refused > self._refused_before and not flags & _QUEUE_FULL
        self._off = refuses and flags & _BROKEN == _BROKEN
        self._refused_before = self.refused
        self._flags, self.has_flags = flags, True
        # The adapter works line by line: frames before the request have been answered. A host that
        # was held up loses answers; without this they would count as outstanding for ever.
        missing = self._sent_before_asking - self._accepted - self.refused
        self._lost = max(self._lost, missing)

    def state(self) -> ControllerState:
        """Return the state that the flags show.

        No flag means bus-off. It is inferred: the controller is error passive with bus errors, and
        refuses frames although its queue is not full.
        """
        if self._off:
            return ControllerState.OFF
        return ControllerState.PASSIVE if self._flags & _ERROR_PASSIVE else ControllerState.ACTIVE
