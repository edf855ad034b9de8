"""Parameters of a <ros2_control> block as values, with errors that name place and value."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.calibration import Calibration, load_calibration


def number(text: str, where: str, above: float = -math.inf) -> float:
    """Return `text` as a finite number above `above`. Raises ConfigError starting with `where`."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > above):
        expected = f"number above {above:g}" if math.isfinite(above) else "finite number"
        raise ConfigError(f"{where}: expected a {expected}, found '{text}'")
    return value


def complete(
    found: Mapping[str, str], required: Iterable[str], optional: Mapping[str, str], where: str
) -> dict[str, str]:
    """Return all parameters, the optional ones with their defaults.

    Raises ConfigError for one that is unknown, missing or empty.
    """
    known = [*required, *optional]
    unknown = sorted(set(found) - set(known))
    if unknown:
        raise ConfigError(
            f"{where}: unknown parameter {', '.join(unknown)}; known: {', '.join(known)}"
        )
    for name in required:
        if not found.get(name, "").strip():
            raise ConfigError(
                f"{where}: <param name='{name}'> is missing or empty; there is no default"
            )
    return {**optional, **{name: text.strip() for name, text in found.items()}}


def integer(parameters: Mapping[str, str], name: str, where: str, largest: int) -> int:
    """Return a whole number from 0 to `largest`, in any Python notation. Raises ConfigError."""
    text = parameters[name]
    try:
        value = int(text, 0)
    except ValueError:
        value = -1
    if not 0 <= value <= largest:
        raise ConfigError(
            f"{where}: {name} is '{text}', expected a whole number from 0 to {largest}"
        )
    return value


def positive(parameters: Mapping[str, str], name: str, where: str) -> float:
    """Return a number above 0. Raises ConfigError."""
    value = number(parameters[name], f"{where}: {name}")
    if value <= 0.0:
        raise ConfigError(f"{where}: {name} is {value:g}, expected more than 0")
    return value


def not_negative(parameters: Mapping[str, str], name: str, where: str) -> float:
    """Return a number from 0 on. Raises ConfigError."""
    value = number(parameters[name], f"{where}: {name}")
    if value < 0.0:
        raise ConfigError(f"{where}: {name} is {value:g}, expected 0 or more")
    return value


def optional_positive(parameters: Mapping[str, str], name: str, where: str) -> float | None:
    """Return a number above 0, None if the parameter is empty. Raises ConfigError."""
    return positive(parameters, name, where) if parameters[name] else None


def one_of(parameters: Mapping[str, str], name: str, where: str, known: Iterable[str]) -> str:
    """Return one of the names in `known`. Raises ConfigError that lists them."""
    value, names = parameters[name], list(known)
    if value not in names:
        raise ConfigError(f"{where}: {name} is '{value}', expected one of {', '.join(names)}")
    return value


def calibration(path: str, joints: Sequence[str], ids: Sequence[int], where: str) -> Calibration:
    """Return the calibration of `joints` with `ids` from the file `path`. Raises ConfigError."""
    try:
        return load_calibration(Path(path), joints, ids)
    except ConfigError as error:
        raise ConfigError(f"{where}: calibration_file: {error}") from error
