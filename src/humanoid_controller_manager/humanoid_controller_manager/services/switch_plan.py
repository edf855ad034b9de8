"""Plans a switch of controllers: ros2_control's rules and words, as a pure function.

One rule is this stack's own: exactly one mode controller is in charge. A request that activates
another one must deactivate it; deactivated alone, it is followed by the next safe controller.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from humanoid_control_common.errors import SwitchRefusedError
from humanoid_controller_manager.switching.registry import State


class Selection(NamedTuple):
    """The controllers that a request names."""

    activate: Sequence[str]
    deactivate: Sequence[str]
    strict: bool  # False: best effort, impossible parts are left out


class Candidate(NamedTuple):
    """One loaded controller, as far as switching is concerned."""

    state: State
    claims: str  # the first command interface it claims; empty for a broadcaster


@dataclass(frozen=True, slots=True)
class Plan:
    """The switch to carry out. `take_over` is empty if the controller in charge stays."""

    take_over: str
    follows: bool  # `take_over` was not requested: it follows the one that is deactivated
    activate: tuple[str, ...]
    deactivate: tuple[str, ...]
    left_out: tuple[str, ...]  # reasons


def plan_switch(selection: Selection, candidates: Mapping[str, Candidate], successor: str) -> Plan:
    """Return the plan for `selection`.

    `successor` is the safe controller after the one in charge, or empty.

    Raises SwitchRefusedError if nothing may be done.
    """
    reasons: list[str] = []
    strict = selection.strict
    off = _known(selection.deactivate, "deactivate", strict, candidates, reasons)
    on = _known(selection.activate, "activate", strict, candidates, reasons)
    again = set(off)
    on = _kept(on, lambda n: _not_activated(n, candidates[n].state, n in again), strict, reasons)
    off = _kept(off, lambda n: _not_deactivated(n, candidates[n].state), strict, reasons)
    leaving = [name for name in off if candidates[name].claims]
    entering = _entering(on, leaving, candidates)
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
    candidates: Mapping[str, Candidate],
    reasons: list[str],
) -> list[str]:
    """Return the existing `names`, each once. Raise if one is unknown (best effort: if all)."""
    unknown = [
        f"Could not {verb} controller with name '{name}' because no controller with this name "
        "exists"
        for name in names
        if name not in candidates
    ]
    known = list(dict.fromkeys(name for name in names if name in candidates))
    if unknown and (strict or not known):
        raise SwitchRefusedError("\n".join(unknown))
    reasons += unknown
    return known


def _kept(
    names: list[str], refusal: Callable[[str], str], strict: bool, reasons: list[str]
) -> list[str]:
    """Return those of `names` that are not refused. Raise at the first refusal if `strict`."""
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


def _entering(on: list[str], leaving: list[str], candidates: Mapping[str, Candidate]) -> str:
    """Return the mode controller to put in charge; empty if none is. Raise on conflicts."""
    entering = [name for name in on if candidates[name].claims]
    if not entering:
        return ""
    unable = "Unable to activate controller '{}' since the command interface '{}' "
    if len(entering) > 1:
        second = unable.format(entering[1], candidates[entering[1]].claims)
        raise SwitchRefusedError(
            f"{second}will be used by another controller that is being activated: '{entering[0]}'."
        )
    if entering[0] in leaving:
        raise SwitchRefusedError(
            f"Controller with name '{entering[0]}' can not be restarted while it is in charge."
        )
    in_charge = [n for n, s in candidates.items() if s.claims and s.state is State.ACTIVE]
    if in_charge and in_charge[0] not in leaving:
        first = unable.format(entering[0], candidates[entering[0]].claims)
        raise SwitchRefusedError(
            f"{first}is currently claimed by another controller: '{in_charge[0]}'."
        )
    return entering[0]
