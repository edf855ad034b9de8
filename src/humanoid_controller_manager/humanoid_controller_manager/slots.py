"""The mode controllers the loop may choose from, and which of them it may fall back to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.modes import SAFE_MODES
from humanoid_controller_manager.controller import Controller


@dataclass(frozen=True, slots=True)
class ControllerSlot:
    """A configured mode controller and what replaces it when it fails, in order."""

    name: str
    controller: Controller
    fallbacks: tuple[str, ...] = ()


def checked_slots(
    slots: Mapping[str, ControllerSlot], safe_chain: Sequence[str]
) -> dict[str, ControllerSlot]:
    """A copy of `slots` in which every fallback exists and is of a safe mode. Raises ConfigError.

    `safe_chain` names the fallbacks of controllers that name none.
    """
    _check(slots, "safe_controllers", safe_chain)
    for slot in slots.values():
        _check(slots, f"{slot.name}.fallback_controllers", slot.fallbacks)
    return dict(slots)


def refusal_as_safe(slot: ControllerSlot) -> str:
    """Why this controller is not one to start with or to fall back to; empty if it is."""
    mode = slot.controller.mode
    return "" if mode in SAFE_MODES else f"'{slot.name}' is {mode.name}, expected a safe mode"


def _check(slots: Mapping[str, ControllerSlot], where: str, names: Sequence[str]) -> None:
    for name in names:
        if name not in slots:
            raise ConfigError(f"{where}: unknown controller '{name}'; known: {', '.join(slots)}")
        refusal = refusal_as_safe(slots[name])
        if refusal:
            raise ConfigError(f"{where}: {refusal}")
