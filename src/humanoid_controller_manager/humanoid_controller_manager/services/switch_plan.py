"""Plans a switch of controllers: ros2_control's rules and words, as a pure function.

One rule is this stack's own: a mode controller is always in charge, or several of one mode that
claim different joints. A request that activates another one must deactivate those that claim its
joints, except one that deactivates nothing: it is a request for another mode, and those in charge
of the present one leave. Where the last one is deactivated, the next safe controller follows.
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
    claims: tuple[str, ...] = ()  # command interfaces; of a broadcaster none
    mode: str = ""  # of a mode controller


@dataclass(frozen=True, slots=True)
class Plan:
    """The switch to carry out.

    `take_over` names the mode controllers in charge afterwards, in loading order; it is empty if
    those in charge stay.
    """

    take_over: tuple[str, ...]
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
    entering = [name for name in on if candidates[name].claims]
    in_charge = [n for n, s in candidates.items() if s.claims and s.state is State.ACTIVE]
    if entering and not selection.deactivate:
        modes = {candidates[name].mode for name in entering}
        leaving = [name for name in in_charge if candidates[name].mode not in modes]
        off += leaving
    staying = [name for name in in_charge if name not in leaving]
    _refuse_conflicts(entering, leaving, staying, candidates)
    take_over: tuple[str, ...] = ()
    if entering or leaving:
        take_over = tuple(n for n in candidates if n in staying or n in entering)
    follows = bool(leaving and not take_over)
    if follows and not successor:
        raise SwitchRefusedError(
            f"Controller with name '{leaving[0]}' can not be deactivated: it is the last of the "
            "safe controllers, and one is always in charge. Name another one to activate."
        )
    take_over = (successor,) if follows else take_over
    return Plan(take_over, follows, tuple(on), tuple(off), tuple(reasons))


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


def _refuse_conflicts(
    entering: list[str],
    leaving: list[str],
    staying: list[str],
    candidates: Mapping[str, Candidate],
) -> None:
    """Raise unless `entering` and `staying` can be in charge together."""
    for index, name in enumerate(entering):
        if name in leaving:
            raise SwitchRefusedError(
                f"Controller with name '{name}' can not be restarted while it is in charge."
            )
        for other in staying:
            _refuse_both(name, other, "is currently claimed by another controller", candidates)
        for other in entering[:index]:
            how = "will be used by another controller that is being activated"
            _refuse_both(name, other, how, candidates)


def _refuse_both(name: str, other: str, how: str, candidates: Mapping[str, Candidate]) -> None:
    one, two = candidates[name], candidates[other]
    taken = set(two.claims)
    common = next((interface for interface in one.claims if interface in taken), "")
    if common:
        raise SwitchRefusedError(
            f"Unable to activate controller '{name}' since the command interface '{common}' {how}: "
            f"'{other}'."
        )
    if one.mode != two.mode:
        raise SwitchRefusedError(
            f"Unable to activate controller '{name}' of {one.mode} beside '{other}' of {two.mode}: "
            "one mode is in force at a time."
        )
