"""Numbers of the command line must be finite: no bound and no wait is in force with nan or inf."""

import math
from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup


class FiniteNumbers(TyperGroup):
    """A group whose commands, and those of the groups in it, refuse numbers that aren't finite."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        _check_all(self)


def _check_all(command: Any) -> None:
    """Check the values of all parameters of `command`, and of its commands if it is a group."""
    for parameter in command.params:
        parameter.callback = _checked(parameter.callback)
    for inner in getattr(command, "commands", {}).values():
        _check_all(inner)


def _checked(then: Callable[..., Any] | None) -> Callable[..., Any]:
    """Return a callback that checks a value, and then calls `then`."""

    def check(context: typer.Context, parameter: Any, value: Any) -> Any:
        numbers = value if isinstance(value, (list, tuple)) else [value]
        for number in numbers:
            if isinstance(number, float) and not math.isfinite(number):
                raise typer.BadParameter(
                    f"{number:g}, expected a finite number", ctx=context, param=parameter
                )
        return then(context, parameter, value) if then else value

    return check
