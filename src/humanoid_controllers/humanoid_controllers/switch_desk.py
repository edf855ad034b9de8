"""The mode manager's dealings with the loop: one pending switch, and the way down."""

from __future__ import annotations

import itertools
from typing import Protocol

from humanoid_controller_manager.loop import SwitchRequest
from humanoid_controller_manager.snapshot import Snapshot


class Loop(Protocol):
    """What the mode manager asks of the control loop."""

    @property
    def snapshot(self) -> Snapshot:
        """The latest tick."""

    def request(self, request: SwitchRequest) -> None:
        """Leave a request for the next tick."""

    def request_fault_reset(self) -> None:
        """Have the hardware reset its faults."""

    def refusal_of(self, controller: str) -> str:
        """Why a controller can't be activated; empty if it can."""


class SwitchDesk:
    """Leaves requests with the loop and remembers the one that is not answered yet.

    Requests carry the switch number they were decided on, so that one overtaken by a fall is
    dropped; a way down is never dropped.

    Args:
        way_down: the controller to fall to.
    """

    def __init__(self, loop: Loop, way_down: str) -> None:
        self._loop = loop
        self._way_down = way_down
        self._tickets = itertools.count(1)
        self._pending: SwitchRequest | None = None

    @property
    def busy(self) -> bool:
        """Whether a switch is on its way."""
        return self._pending is not None

    def switch(self, controller: str, decided_on: int) -> None:
        """Ask for `controller`, unless another switch number than `decided_on` is in force."""
        self._post(SwitchRequest(controller, decided_on, next(self._tickets)))

    def go_down(self) -> None:
        """Ask for the way down whatever else happens meanwhile; the loop drops no such request."""
        if self._pending is None or self._pending.expected_number is not None:
            self._post(SwitchRequest(self._way_down, None, next(self._tickets)))

    def settle(self, snapshot: Snapshot) -> str:
        """Forget the pending request once the loop has answered it. Why it failed, if it did."""
        if self._pending is None or snapshot.ticket < self._pending.ticket:
            return ""
        request, self._pending = self._pending, None
        refusal = snapshot.refusal
        failed = refusal is not None and refusal.ticket == request.ticket
        return refusal.reason if refusal is not None and failed else ""

    def _post(self, request: SwitchRequest) -> None:
        self._pending = request
        self._loop.request(request)
