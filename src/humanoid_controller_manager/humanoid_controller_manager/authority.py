"""Who has the last word on a change of the controller in charge."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from humanoid_control_common.modes import Mode
from humanoid_controller_manager.snapshot import Refusal
from humanoid_controller_manager.switch_desk import Loop, SwitchDesk


class Asked(NamedTuple):
    """Answer to a wish: refused for a reason, or on its way to the loop under a ticket."""

    refusal: str
    ticket: int = 0


class SwitchAuthority(Protocol):
    """Decides on switches; what it allows it passes on to the loop.

    Called by the executor's thread only. A mode manager is one: whoever asks for a controller asks
    for its mode, and gets the mode manager's answer.
    """

    def ask(self, controller: str, mode: Mode, decided_on: int) -> Asked:
        """Have `controller`, which implements `mode`, put in charge.

        `decided_on` is the switch number the wish was made at.
        """

    def asked_for(self) -> str:
        """The controller a switch is on its way to; empty if none is."""

    @property
    def refusal(self) -> Refusal | None:
        """The latest of a wish that was let wait before it went to the loop. From any thread."""


class LoopAuthority:
    """Without a mode manager: what the loop accepts is allowed."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._desk = SwitchDesk(loop)

    def ask(self, controller: str, mode: Mode, decided_on: int) -> Asked:
        """See SwitchAuthority."""
        refusal = self._loop.refusal_of(controller)
        if refusal:
            return Asked(refusal)
        self._desk.switch(controller, decided_on)
        return Asked("", self._desk.ticket)

    def asked_for(self) -> str:
        """See SwitchAuthority."""
        self._desk.settle(self._loop.snapshot)
        return self._desk.asked_for

    @property
    def refusal(self) -> None:
        """See SwitchAuthority: none is let wait."""
        return None
