"""Assumptions about drives, chosen for a run: NAME=VALUE of their parameters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any

from humanoid_twin.erob.parameters import DriveParameters
from humanoid_twin.errors import TwinError
from humanoid_twin.ethercat.parameters import SlaveParameters

HELP = "an assumption about the drives, e.g. feed_forward=absent; may be given several times"
_WORDS = {"yes": True, "no": False}


@dataclass(frozen=True, slots=True)
class Assumptions:
    """Parameters of every drive of a ring, and of the slave controller in front of it."""

    drive: DriveParameters = field(default_factory=DriveParameters)
    slave: SlaveParameters = field(default_factory=SlaveParameters)


def assume(choices: Sequence[str]) -> Assumptions:
    """Return the defaults with `choices`, each NAME=VALUE, in place of some.

    Raises TwinError for an unknown name and for a value of another kind, ConfigError for a value
    that no drive can have.
    """
    made = Assumptions()
    for choice in choices:
        name, _, text = choice.partition("=")
        if name in _names(made.drive):
            made = replace(made, drive=_changed(made.drive, name, text))
        elif name in _names(made.slave):
            made = replace(made, slave=_changed(made.slave, name, text))
        elif name in _names(made.slave.clocks):
            clocks = _changed(made.slave.clocks, name, text)
            made = replace(made, slave=replace(made.slave, clocks=clocks))
        else:
            known = _names(made.drive) + _names(made.slave) + _names(made.slave.clocks)
            raise TwinError(f"no assumption '{name}', there are {', '.join(sorted(known))}")
    return made


def choices(facts: Mapping[str, object]) -> list[str]:
    """Return assumptions by their names as `assume` takes them."""
    return [f"{name}={_word(value)}" for name, value in facts.items()]


def _word(value: object) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else str(value)


def _names(parameters: Any) -> list[str]:
    """Return the fields whose values can be written as one word."""
    kinds = (bool, int, float, Enum)
    return [it.name for it in fields(parameters) if isinstance(getattr(parameters, it.name), kinds)]


def _changed(parameters: Any, name: str, text: str) -> Any:
    present = getattr(parameters, name)
    kind = type(present)
    try:
        value = _WORDS[text] if kind is bool else kind(text)
    except (KeyError, ValueError) as error:
        expected = "yes or no" if kind is bool else kind.__name__
        if isinstance(present, Enum):
            expected = ", ".join(str(it.value) for it in kind)
        raise TwinError(f"assumption {name}={text}: expected {expected}") from error
    return replace(parameters, **{name: value})
