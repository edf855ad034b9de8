"""How the hardware was left at the end, for the log and for whoever asked for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from humanoid_control_common.errors import ControllerError
from humanoid_controller_manager.hardware_member import Member
from humanoid_controller_manager.loop import ControlLoop


@dataclass(frozen=True, slots=True)
class Ending:
    """What became of the joints."""

    failure: str  # what may still be powered, and why; empty if all joints are without torque
    in_order: tuple[str, ...]  # what each component that left in order has made sure of


class Stoppable(Protocol):
    """What is stopped: loop and hardware."""

    loop: ControlLoop

    def stop(self) -> None:
        """Raises ControllerError if the loop hangs, ExceptionGroup of what was not disabled."""


def end_of(manager: Stoppable) -> Ending:
    """Stop the loop, then deactivate the hardware. Never raises what `stop` says it raises."""
    members = manager.loop.hardware.members
    try:
        manager.stop()
    except ControllerError as error:
        return Ending(str(error), ())
    except ExceptionGroup as failures:
        said = [str(failure) for failure in failures.exceptions]
        return Ending(f"{failures.message}: {'; '.join(said)}", _in_order(members, said))
    return Ending("", _in_order(members))


def _in_order(members: Iterable[Member], failures: Sequence[str] = ()) -> tuple[str, ...]:
    """The components that no failure begins with."""
    return tuple(
        f"{member.info.name} ({member.exit_check()})"
        for member in members
        if not any(said.startswith(f"{member.info.name}: ") for said in failures)
    )
