"""The final state of the hardware, for the log and for the answer to a power-down."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import Protocol

from humanoid_control_common.errors import ControllerError
from humanoid_controller_manager.hardware.activation import NotDeactivatedError
from humanoid_controller_manager.hardware.member import Member
from humanoid_controller_manager.loop.control_loop import ControlLoop


@dataclass(frozen=True, slots=True)
class ShutdownReport:
    """The final state of the joints."""

    failure: str  # which joints may still be powered, and why; empty if none has torque
    in_order: tuple[str, ...]  # each component that ended in order, with what it has checked


class Stoppable(Protocol):
    """A loop with its hardware."""

    loop: ControlLoop

    def stop(self) -> None:
        """Stop. Raises ControllerError if the loop hangs, ExceptionGroup of failed components."""


def stop_and_report(manager: Stoppable) -> ShutdownReport:
    """Stop the loop and deactivate the hardware. Raises none of the errors of `stop`."""
    members = manager.loop.hardware.members
    try:
        manager.stop()
    except ControllerError as error:
        return ShutdownReport(str(error), ())
    except ExceptionGroup as group:
        text = f"{group.message}: {'; '.join(map(str, group.exceptions))}"
        failed = {it.component for it in group.exceptions if isinstance(it, NotDeactivatedError)}
        return ShutdownReport(text, _in_order(members, failed))
    return ShutdownReport("", _in_order(members))


def _in_order(members: Iterable[Member], failed: Collection[str] = ()) -> tuple[str, ...]:
    """Return the components that have not failed."""
    return tuple(
        f"{member.info.name} ({member.exit_check()})"
        for member in members
        if member.info.name not in failed
    )
