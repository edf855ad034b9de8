"""The errors of the stack. Messages have the place, the found and the expected value."""

from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


class RobotError(Exception):
    """Root of every error the stack raises on purpose."""


class ConfigError(RobotError):
    """A file, parameter, URDF or plugin name is wrong. Raised before anything moves."""


class ControllerError(RobotError):
    """A controller could not be activated or failed while running."""


class HardwareError(RobotError):
    """A hardware component could not be activated, read or written."""


class SwitchRefusedError(RobotError):
    """A change of the active mode controller was refused; the one in force stays."""


def of_each(read: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Return `read(item)` of each item. Raises ConfigError that names all that are wrong."""
    found: list[R] = []
    wrong: list[ConfigError] = []
    for item in items:
        try:
            found.append(read(item))
        except ConfigError as error:
            wrong.append(error)
    if len(wrong) == 1:
        raise wrong[0]
    if wrong:
        raise ConfigError("; ".join(map(str, wrong)))
    return found
