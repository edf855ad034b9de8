"""Dealings with the loop: one pending switch, the way down, and what became of them."""

from __future__ import annotations

import itertools
from typing import Protocol

from humanoid_control_common.joints import JointSet
from humanoid_controller_manager.loop import SwitchRequest
from humanoid_controller_manager.snapshot import Phase, Snapshot


class Loop(Protocol):
    """What those who decide on switches ask of the control loop."""

    @property
    def joints(self) -> JointSet:
        """The robot's joints."""

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
    """

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._tickets = itertools.count(1)
        self._pending: SwitchRequest | None = None
        self.ticket = 0  # of the latest request

    @property
    def busy(self) -> bool:
        """Whether a switch is on its way."""
        return self._pending is not None

    @property
    def asked_for(self) -> str:
        """The controller a switch is on its way to; empty if none is."""
        return "" if self._pending is None else self._pending.controller

    def reserve(self) -> int:
        """The ticket of a request that may be left later: see `switch`."""
        return next(self._tickets)

    def switch(self, controller: str, decided_on: int, reserved: int | None = None) -> None:
        """Ask for `controller`, unless another switch number than `decided_on` is in force.

        Under the ticket `reserved`, if there is one and none was given out since.
        """
        self._post(controller, decided_on, reserved)

    def go_down(self, controller: str) -> None:
        """Ask for the way down whatever else happens meanwhile; the loop drops no such request."""
        if self._pending is None or self._pending.expected_number is not None:
            self._post(controller, None)

    def settle(self, snapshot: Snapshot) -> str:
        """Forget the pending request once the loop has answered it. Why it failed, if it did."""
        if self._pending is None or snapshot.ticket < self._pending.ticket:
            return ""
        request, self._pending = self._pending, None
        refusal = snapshot.refusal
        failed = refusal is not None and refusal.ticket == request.ticket
        return refusal.reason if refusal is not None and failed else ""

    def _post(
        self, controller: str, expected_number: int | None, reserved: int | None = None
    ) -> None:
        self.ticket = reserved or next(self._tickets)
        self._pending = SwitchRequest(controller, expected_number, self.ticket)
        self._loop.request(self._pending)


def outcome_of(snapshot: Snapshot, ticket: int, controller: str) -> str | None:
    """What became of request `ticket` for `controller`: empty if it commands now, else why not.

    None while the loop has not answered, or the controller still waits for the impedance.
    """
    if snapshot.ticket < ticket:
        return None
    if snapshot.refusal is not None and snapshot.refusal.ticket == ticket:
        return snapshot.refusal.reason
    if snapshot.controller == controller:
        return "" if snapshot.phase is Phase.RUNNING else None
    said = f"; the latest fall: {snapshot.fall.reason}" if snapshot.fall else ""
    return f"'{snapshot.controller}' is in charge{said}"
