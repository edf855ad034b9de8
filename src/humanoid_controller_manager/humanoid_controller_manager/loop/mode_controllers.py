"""The mode controllers that the loop may choose from, and their fallbacks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.modes import SAFE_MODES
from humanoid_controller_manager.controller import Controller


@dataclass(frozen=True, slots=True)
class ControllerSlot:
    """A configured mode controller and the names of its fallbacks, in order."""

    name: str
    controller: Controller
    fallbacks: tuple[str, ...] = ()


def checked_slots(
    slots: Mapping[str, ControllerSlot], safe_chain: Sequence[str]
) -> dict[str, ControllerSlot]:
    """Return a copy of `slots`.

    `safe_chain` names the fallbacks of controllers without fallbacks of their own.

    Raises ConfigError for a fallback that does not exist or is not of a safe mode.
    """
    _check(slots, "safe_controllers", safe_chain)
    for slot in slots.values():
        _check(slots, f"{slot.name}.fallback_controllers", slot.fallbacks)
    return dict(slots)


def refusal_as_safe(slot: ControllerSlot) -> str:
    """Return why the loop cannot start with, or fall back to, this controller; empty if it can."""
    mode = slot.controller.mode
    return "" if mode in SAFE_MODES else f"'{slot.name}' is {mode.name}, expected a safe mode"


def _check(slots: Mapping[str, ControllerSlot], where: str, names: Sequence[str]) -> None:
    for name in names:
        if name not in slots:
            raise ConfigError(f"{where}: unknown controller '{name}'; known: {', '.join(slots)}")
        refusal = refusal_as_safe(slots[name])
        if refusal:
            raise ConfigError(f"{where}: {refusal}")
