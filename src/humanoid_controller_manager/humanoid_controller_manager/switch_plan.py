"""What a wish to switch controllers comes to: ros2_control's rules and words, as a pure function.

Ours alone: exactly one mode controller is in charge. Putting another in charge needs the first in
the list of those to deactivate; deactivated alone it is followed by the next safe controller.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from humanoid_control_common.errors import SwitchRefusedError
from humanoid_controller_manager.registry import State


class Wish(NamedTuple):
    """What is asked for."""

    activate: Sequence[str]
    deactivate: Sequence[str]
    strict: bool  # else best effort: what can't be done is left out


class Shown(NamedTuple):
    """One controller, as far as switching is concerned."""

    state: State
    claims: str  # the first command interface it claims; empty for a broadcaster


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do. Whole lists of names; `take_over` is empty if the one in charge stays."""

    take_over: str
    follows: bool  # nobody asked for `take_over`: it follows on the one that is deactivated
    activate: tuple[str, ...]
    deactivate: tuple[str, ...]
    left_out: tuple[str, ...]  # reasons


def plan_switch(wish: Wish, shown: Mapping[str, Shown], successor: str) -> Plan:
    """What `wish` comes to; `successor` is the safe controller after the one in charge, or empty.

    Raises SwitchRefusedError: nothing is to be done then.
    """
    reasons: list[str] = []
    off = _known(wish.deactivate, "deactivate", wish.strict, shown, reasons)
    on = _known(wish.activate, "activate", wish.strict, shown, reasons)
    again = set(off)
    on = _kept(on, lambda n: _not_activated(n, shown[n].state, n in again), wish.strict, reasons)
    off = _kept(off, lambda n: _not_deactivated(n, shown[n].state), wish.strict, reasons)
    leaving = [name for name in off if shown[name].claims]
    entering = _entering(on, leaving, shown)
    if leaving and not entering and not successor:
        raise SwitchRefusedError(
            f"Controller with name '{leaving[0]}' can not be deactivated: it is the last of the "
            "safe controllers, and one is always in charge. Name another one to activate."
        )
    follows = bool(leaving and not entering)
    return Plan(successor if follows else entering, follows, tuple(on), tuple(off), tuple(reasons))


def _known(
    names: Sequence[str],
    verb: str,
    strict: bool,
    shown: Mapping[str, Shown],
    reasons: list[str],
) -> list[str]:
    """Those of `names` that exist, each once. Raises if one doesn't, or with best effort none."""
    unknown = [
        f"Could not {verb} controller with name '{name}' because no controller with this name "
        "exists"
        for name in names
        if name not in shown
    ]
    known = list(dict.fromkeys(name for name in names if name in shown))
    if unknown and (strict or not known):
        raise SwitchRefusedError("\n".join(unknown))
    reasons += unknown
    return known


def _kept(
    names: list[str], refusal: Callable[[str], str], strict: bool, reasons: list[str]
) -> list[str]:
    """Those of `names` that are not refused. Raises at the first refusal if it is to be strict."""
    refused = {name: text for name in names if (text := refusal(name))}
    if refused and strict:
        raise SwitchRefusedError(next(iter(refused.values())))
    reasons += refused.values()
    return [name for name in names if name not in refused]


def _not_activated(name: str, state: State, restarted: bool) -> str:
    if state is State.UNCONFIGURED:
        return (
            f"Controller with name '{name}' is in 'unconfigured' state. The controller needs to be "
            "configured to be in 'inactive' state before it can be checked and activated."
        )
    if state is State.ACTIVE and not restarted:
        return f"Controller with name '{name}' is already active."
    return ""


def _not_deactivated(name: str, state: State) -> str:
    if state is State.ACTIVE:
        return ""
    return f"Controller with name '{name}' can not be deactivated since it is not active."


def _entering(on: list[str], leaving: list[str], shown: Mapping[str, Shown]) -> str:
    """The mode controller to put in charge; empty if none is asked for. Raises on conflicts."""
    entering = [name for name in on if shown[name].claims]
    if not entering:
        return ""
    unable = "Unable to activate controller '{}' since the command interface '{}' "
    if len(entering) > 1:
        second = unable.format(entering[1], shown[entering[1]].claims)
        raise SwitchRefusedError(
            f"{second}will be used by another controller that is being activated: '{entering[0]}'."
        )
    if entering[0] in leaving:
        raise SwitchRefusedError(
            f"Controller with name '{entering[0]}' can not be restarted while it is in charge."
        )
    in_charge = [n for n, s in shown.items() if s.claims and s.state is State.ACTIVE]
    if in_charge and in_charge[0] not in leaving:
        first = unable.format(entering[0], shown[entering[0]].claims)
        raise SwitchRefusedError(
            f"{first}is currently claimed by another controller: '{in_charge[0]}'."
        )
    return entering[0]
