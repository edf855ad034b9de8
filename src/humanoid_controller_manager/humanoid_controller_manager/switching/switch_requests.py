"""Requests for another controller, and the object that decides on them."""

import itertools
from abc import ABC, abstractmethod
from typing import NamedTuple

from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_controller_manager.loop.control_loop import ControlLoop, SwitchRequest
from humanoid_controller_manager.loop.snapshot import Phase, Refusal, Snapshot


class SwitchRequests:
    """Leaves requests with the loop and keeps the one that the loop has not answered yet.

    A request carries the switch number it was decided on: the loop drops one that a fall has
    overtaken. A way down is never dropped.
    """

    def __init__(self, loop: ControlLoop) -> None:
        self._loop = loop
        self._tickets = itertools.count(1)
        self._pending: SwitchRequest | None = None
        self.ticket = 0  # of the latest request

    @property
    def busy(self) -> bool:
        """True while a switch is on its way."""
        return self._pending is not None

    @property
    def pending_controller(self) -> str:
        """The controller that a switch is on its way to; empty if none is."""
        return "" if self._pending is None else self._pending.controller

    def reserve(self) -> int:
        """Return a ticket for a later `switch`."""
        return next(self._tickets)

    def switch(self, controller: str, expected_number: int | None, reserved: int = 0) -> None:
        """Request `controller`; see SwitchRequest for `expected_number`.

        The ticket is `reserved`, or the next one if that is 0.
        """
        self.ticket = reserved or next(self._tickets)
        self._pending = SwitchRequest(controller, expected_number, self.ticket)
        self._loop.request(self._pending)

    def go_down(self, controller: str) -> None:
        """Request the safe `controller` unconditionally, unless such a request is pending."""
        if self._pending is None or self._pending.expected_number is not None:
            self.switch(controller, None)

    def settle(self, snapshot: Snapshot) -> Reason:
        """Drop the pending request once the loop has answered it; return why it failed, if so."""
        if self._pending is None or snapshot.ticket < self._pending.ticket:
            return NO_REASON
        request, self._pending = self._pending, None
        refusal = snapshot.refusal
        answers = refusal is not None and refusal.ticket == request.ticket
        return refusal.reason if refusal is not None and answers else NO_REASON


def outcome_of(snapshot: Snapshot, ticket: int, controller: str) -> str | None:
    """Return the outcome of request `ticket` for `controller`: why it failed; empty if it commands.

    None while the loop has not answered, or the controller waits for the impedance.
    """
    if snapshot.ticket < ticket:
        return None
    if snapshot.refusal is not None and snapshot.refusal.ticket == ticket:
        return snapshot.refusal.reason.text
    if snapshot.controller == controller:
        return "" if snapshot.phase is Phase.RUNNING else None
    fall = f"; the latest fall: {snapshot.fall.reason}" if snapshot.fall else ""
    return f"'{snapshot.controller}' is in charge{fall}"


class SwitchAnswer(NamedTuple):
    """Answer to a request: refused for a reason, or on its way to the loop under a ticket."""

    refusal: Reason = NO_REASON
    ticket: int = 0


class SwitchAuthority(ABC):
    """Decides on switches and passes those it allows on to the loop.

    Called by the executor's thread only. The mode manager is one: a request for a controller is a
    request for its mode and gets the mode manager's answer.
    """

    refusal: Refusal | None = None  # the latest of a request that had waited; read by any thread

    @abstractmethod
    def request_switch(self, controller: str, mode: Mode, decided_on: int) -> SwitchAnswer:
        """Request that `controller`, which implements `mode`, is put in charge.

        `decided_on` is the switch number that the request is based on.
        """

    @abstractmethod
    def pending_controller(self) -> str:
        """Return the controller that a switch is on its way to; empty if none is."""


class LoopAuthority(SwitchAuthority):
    """Without a mode manager: allows what the loop accepts. No request waits."""

    def __init__(self, loop: ControlLoop) -> None:
        self._loop = loop
        self._requests = SwitchRequests(loop)

    def request_switch(self, controller: str, mode: Mode, decided_on: int) -> SwitchAnswer:
        """See SwitchAuthority."""
        refusal = self._loop.refusal_of(controller)
        if refusal:
            return SwitchAnswer(refusal)
        self._requests.switch(controller, decided_on)
        return SwitchAnswer(NO_REASON, self._requests.ticket)

    def pending_controller(self) -> str:
        """See SwitchAuthority."""
        self._requests.settle(self._loop.snapshot)
        return self._requests.pending_controller
