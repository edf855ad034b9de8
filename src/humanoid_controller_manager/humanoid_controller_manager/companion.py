"""The contract between the control process and what runs beside its controller manager."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final

from rclpy.node import Node

from humanoid_control_common.modes import Mode
from humanoid_controller_manager.authority import Asked, LoopAuthority, SwitchAuthority
from humanoid_controller_manager.duties import Contract
from humanoid_controller_manager.ending import Ending
from humanoid_controller_manager.loop import ControlLoop
from humanoid_controller_manager.snapshot import Refusal
from humanoid_controller_manager.stopping import EndRequests


class Companion(ABC):
    """Something with a node of its own, such as the mode manager. All calls are the executor's.

    The duties that are not abstract have defaults: a companion overrides those that it takes on,
    see `duties`.
    """

    node: Node

    @abstractmethod
    def changed(self) -> None:
        """Mode, phase or safety of the latest snapshot changed."""

    def lead_down(self) -> None:
        """Begin to bring the robot to rest before the joints lose their torque.

        Ask the process to end when it is done, soon in any case. Called again and again until then.
        """

    def ended(self, ending: Ending) -> None:
        """Told once how the hardware was left; no callback is executed any more."""

    # Decides on switches, as SwitchAuthority does: all or none.

    def ask(self, controller: str, mode: Mode, decided_on: int) -> Asked:
        """See SwitchAuthority."""
        return Asked("this companion does not decide on switches")

    def asked_for(self) -> str:
        """See SwitchAuthority."""
        return ""

    @property
    def refusal(self) -> Refusal | None:
        """See SwitchAuthority."""
        return None


COMPANION_CONTRACT: Final = Contract(Companion, (frozenset({"ask", "asked_for", "refusal"}),))


def authority_of(companions: Sequence[Companion], loop: ControlLoop) -> SwitchAuthority:
    """The companion that decides on switches; without one the loop alone does."""
    return next(iter(_with(companions, "ask")), None) or LoopAuthority(loop)


def way_down_of(companions: Sequence[Companion], end: EndRequests) -> Callable[[], None]:
    """What an end in order begins with: a companion's way down; without one there is none."""
    leading = (companion.lead_down for companion in _with(companions, "lead_down"))
    return next(leading, end.end_at_once)


def any_leads_down(companions: Sequence[Companion]) -> bool:
    """Whether an end in order begins with a way down."""
    return bool(_with(companions, "lead_down"))


def _with(companions: Sequence[Companion], duty: str) -> list[Companion]:
    """The companions that take `duty` on. Raises ConfigError for one that can't be relied on."""
    return [c for c in companions if duty in COMPANION_CONTRACT.taken_on(type(c), "companion")]
