"""Contracts of plug-ins: find the duties that a class overrides, and refuse wrong overrides.

A contract is a base class. Its public methods and properties are the duties; those that are not
abstract have a default. A duty that is misspelt, has other parameters or lacks the duties it
belongs to would have no effect: such a class is refused when it is loaded.
"""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from types import FunctionType
from typing import Any, Final

from humanoid_control_common.errors import ConfigError

CLOSE: Final = 0.8  # difflib's ratio from which on a name counts as a misspelt duty


@dataclass(frozen=True)
class Contract:
    """A base class of plug-ins.

    Args:
        base: its methods and properties are the duties.
        together: duties of which a class overrides all or none.
    """

    base: type
    together: tuple[frozenset[str], ...] = ()

    @cached_property
    def duties(self) -> dict[str, Any]:
        """The duties by name, as the base class defines them."""
        return {
            name: value
            for name, value in vars(self.base).items()
            if not name.startswith("_") and isinstance(value, FunctionType | property)
        }

    def taken_on(self, plugin: object, where: str) -> frozenset[str]:
        """Return the names of the duties that class `plugin` overrides.

        Raises ConfigError, which begins with `where`, for a class that breaks the contract.
        """
        base = f"{self.base.__module__}.{self.base.__name__}"
        if not (isinstance(plugin, type) and issubclass(plugin, self.base)):
            raise ConfigError(f"{where}: {plugin!r} does not derive from {base}")
        overridden = frozenset(
            name
            for name, duty in self.duties.items()
            if inspect.getattr_static(plugin, name) is not duty
        )
        problem = next(self._problems(plugin, overridden), None)
        if problem is not None:
            raise ConfigError(f"{where}: {plugin.__module__}.{plugin.__name__} {problem}")
        return overridden

    def refuse_hidden(self, plugin: object, where: str) -> None:
        """Raise ConfigError if an attribute of the object `plugin` hides a duty of its class."""
        hidden = sorted(self.duties.keys() & getattr(plugin, "__dict__", {}).keys())
        if hidden:
            raise ConfigError(
                f"{where}: attribute '{hidden[0]}' hides a duty: define it in the class"
            )

    def _problems(self, plugin: type, overridden: frozenset[str]) -> Iterator[str]:
        yield from self._not_overridden(plugin, sorted(self.duties.keys() - overridden))
        if lacking := sorted(getattr(plugin, "__abstractmethods__", ())):
            yield f"lacks {', '.join(lacking)}"
        for name in sorted(overridden):
            if problem := _mismatch(plugin, name, self.duties[name]):
                yield f"has a '{name}' that {problem}"
        for group in self.together:
            if overridden & group and group - overridden:
                has, lacks = sorted(overridden & group), sorted(group - overridden)
                yield f"has {', '.join(has)} without {', '.join(lacks)}: they belong together"

    def _not_overridden(self, plugin: type, names: list[str]) -> Iterator[str]:
        """Yield where the class defines one of the duties `names`, but hidden or misspelt."""
        base = self.base.__name__
        own = [kind for kind in plugin.__mro__ if kind not in self.base.__mro__]
        for name in names:
            for kind in own:
                if name in vars(kind):
                    yield (
                        f"has the '{name}' of {kind.__name__} hidden by that of {base}: "
                        f"name {kind.__name__} before {base} among the bases"
                    )
        for name in sorted({name for kind in own for name in vars(kind)} - self.duties.keys()):
            close = [] if name.startswith("_") else get_close_matches(name, names, 1, CLOSE)
            if close:
                yield (
                    f"has '{name}', which looks like the duty '{close[0]}': correct it, or "
                    "rename it"
                )


def _mismatch(plugin: type, name: str, duty: Any) -> str:
    """Return why the `name` of `plugin` cannot be called like `duty`; empty if it can."""
    found, method = inspect.getattr_static(plugin, name), getattr(plugin, name)
    if isinstance(duty, property):
        return "is a method, expected a property" if callable(method) else ""
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
        pass  # a compiled function without a signature
    return ""
