"""Which duties of its contract a plug-in's class takes on: decided from the class, once.

A contract is a base class. Its public methods and properties are the duties; those that are not
abstract have a default. A duty that is misspelt, has other parameters or is taken on without those
that belong to it would silently not be done: such a class is refused when it is loaded.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from types import FunctionType
from typing import Any, Final

from humanoid_control_common.errors import ConfigError

CLOSE: Final = 0.8  # difflib's ratio from which on a name is taken for a misspelt duty


@dataclass(frozen=True)
class Contract:
    """A base class of plug-ins.

    Args:
        base: its methods and properties are the duties.
        together: duties of which a class takes on all or none.
    """

    base: type
    together: tuple[frozenset[str], ...] = ()

    @property
    def duties(self) -> dict[str, Any]:
        """The duties by name, as the base class has them."""
        return {
            name: value
            for name, value in vars(self.base).items()
            if not name.startswith("_") and isinstance(value, FunctionType | property)
        }

    def taken_on(self, plugin: object, where: str) -> frozenset[str]:
        """Names of the duties that class `plugin` overrides.

        Raises ConfigError, which begins with `where`, for a class that can't be relied on.
        """
        base = f"{self.base.__module__}.{self.base.__name__}"
        if not (isinstance(plugin, type) and issubclass(plugin, self.base)):
            raise ConfigError(f"{where}: {plugin!r} does not derive from {base}: derive it from it")
        duties = self.duties
        overridden = frozenset(
            name for name in duties if inspect.getattr_static(plugin, name) is not duties[name]
        )
        who = f"{where}: {plugin.__module__}.{plugin.__name__}"
        own = [kind for kind in plugin.__mro__ if kind not in self.base.__mro__]
        left = sorted(duties.keys() - overridden)
        for problem in (
            *self._hidden(own, left),
            *_misspelt(own, left, duties),
            *_lacking(plugin),
            *_unfit(plugin, {name: duties[name] for name in sorted(overridden)}),
            *self._incomplete(overridden),
        ):
            raise ConfigError(f"{who} {problem}")
        return overridden

    def _hidden(self, own: list[type], left: list[str]) -> Iterator[str]:
        base = self.base.__name__
        for name in left:
            for kind in own:
                if name in vars(kind):
                    yield (
                        f"has the '{name}' of {kind.__name__} hidden by that of {base}: "
                        f"name {kind.__name__} before {base} among the bases"
                    )

    def _incomplete(self, overridden: frozenset[str]) -> Iterator[str]:
        for group in self.together:
            if overridden & group and group - overridden:
                has, lacks = sorted(overridden & group), sorted(group - overridden)
                yield f"has {', '.join(has)} without {', '.join(lacks)}: they belong together"


def _misspelt(own: list[type], left: list[str], duties: dict[str, Any]) -> Iterator[str]:
    """A class that does a duty hasn't misspelt it, so only those that are `left` are meant."""
    for name in sorted({name for kind in own for name in vars(kind)} - duties.keys()):
        meant = [] if name.startswith("_") else get_close_matches(name, left, 1, CLOSE)
        if meant:
            yield f"has '{name}', which looks like the duty '{meant[0]}': spell it so, or rename it"


def _lacking(plugin: type) -> Iterator[str]:
    if lacking := sorted(getattr(plugin, "__abstractmethods__", ())):
        yield f"lacks {', '.join(lacking)}"


def _unfit(plugin: type, overridden: dict[str, Any]) -> Iterator[str]:
    for name, duty in overridden.items():
        if problem := _problem_of(plugin, name, duty):
            yield f"has a '{name}' that {problem}"


def refuse_hidden(contract: Contract, plugin: object, where: str) -> None:
    """Raises ConfigError if an attribute of this one object hides a duty of its class."""
    hidden = sorted(contract.duties.keys() & getattr(plugin, "__dict__", {}).keys())
    if hidden:
        raise ConfigError(f"{where}: attribute '{hidden[0]}' hides a duty: define it in the class")


def _problem_of(plugin: type, name: str, duty: Any) -> str:
    """Why the class's own `name` can't stand in for `duty`; empty if it can."""
    found = inspect.getattr_static(plugin, name)
    if isinstance(duty, property):
        return "is a method, expected a property" if callable(getattr(plugin, name)) else ""
    method = getattr(plugin, name)
    if not callable(method) or isinstance(found, property):
        return "is no method"
    if inspect.iscoroutinefunction(method) or inspect.isgeneratorfunction(method):
        return "is a coroutine or generator: it would be called and never run"
    bound = isinstance(found, staticmethod | classmethod)
    parameters = list(inspect.signature(duty).parameters)[1:]
    try:
        inspect.signature(method).bind(*([] if bound else [None]), *parameters)
    except TypeError as error:
        return f"can't be called with ({', '.join(parameters)}): {error}"
    except ValueError:
        pass  # compiled, and says nothing about its parameters
    return ""
