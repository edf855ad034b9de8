"""The contract between the control process and the nodes beside its controller manager."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final

from rclpy.node import Node

from humanoid_control_common.rules.diagnosis import Diagnosis
from humanoid_controller_manager.duties import Contract
from humanoid_controller_manager.loop.control_loop import ControlLoop
from humanoid_controller_manager.ros.process.end_requests import EndRequests
from humanoid_controller_manager.ros.process.shutdown_report import ShutdownReport
from humanoid_controller_manager.switching.switch_requests import LoopAuthority, SwitchAuthority


class Companion(ABC):
    """A node in the control process, such as the mode manager. The executor's thread calls it.

    Duties that are not abstract have defaults; see `duties`. A companion that is a SwitchAuthority
    decides on switches.
    """

    node: Node

    @abstractmethod
    def changed(self) -> None:
        """React to a change of mode, phase or safety in the latest snapshot."""

    def diagnose(self) -> Sequence[Diagnosis]:
        """Return the diagnoses of this node, always of the same names. Called at each change."""
        return ()

    def lead_down(self) -> None:
        """Begin to bring the robot to rest before the joints lose their torque.

        Request the end of the process when the robot is at rest, or after a limited time. Called
        repeatedly until then.
        """

    def ended(self, report: ShutdownReport) -> None:
        """Take the final state of the hardware. Called once; no callback is executed any more."""


COMPANION_CONTRACT: Final = Contract(Companion)


def authority_of(companions: Sequence[Companion], loop: ControlLoop) -> SwitchAuthority:
    """Return the companion that decides on switches; the loop itself where none does."""
    deciding = (c for c in companions if isinstance(c, SwitchAuthority))
    return next(deciding, None) or LoopAuthority(loop)


def way_down_of(companions: Sequence[Companion], end: EndRequests) -> Callable[[], None]:
    """Return the beginning of an ordered end: a companion's `lead_down`, or the end itself."""
    leading = (companion.lead_down for companion in _with(companions, "lead_down"))
    return next(leading, end.end_at_once)


def any_leads_down(companions: Sequence[Companion]) -> bool:
    """Return whether an ordered end begins with a way down."""
    return bool(_with(companions, "lead_down"))


def _with(companions: Sequence[Companion], duty: str) -> list[Companion]:
    """Return the companions that override `duty`. Raises ConfigError for an unfit class."""
    return [c for c in companions if duty in COMPANION_CONTRACT.taken_on(type(c), "companion")]
