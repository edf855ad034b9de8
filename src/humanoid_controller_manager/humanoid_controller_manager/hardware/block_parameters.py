"""What a <ros2_control> block may have, and its parameters as values; errors name the place."""

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple
from xml.etree.ElementTree import Element

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.calibration import Calibration, load_calibration


class Known(NamedTuple):
    """What acts in an element of a block."""

    children: tuple[str, ...] = ()
    attributes: Mapping[str, tuple[str, ...]] = {}  # with the values that act; (): any


_INTERFACE: Final = Known(("param",), {"name": (), "data_type": ("double",), "size": ("1",)})
# Elements and attributes of ros2_control's component parser. Values are those that describe what
# happens in any case, such as is_async="false".
ELEMENTS: Final[Mapping[str, Known]] = {
    "ros2_control": Known(
        ("hardware", "joint"), {"name": (), "type": ("system", "actuator"), "is_async": ("false",)}
    ),
    "hardware": Known(("plugin", "param")),
    "plugin": Known(),
    "param": Known((), {"name": ()}),
    "joint": Known(("command_interface", "state_interface", "param", "limits"), {"name": ()}),
    "limits": Known((), {"enable": ("true",)}),
    "command_interface": _INTERFACE,
    "state_interface": _INTERFACE,
}
# Parameters of an interface, with the values that act as in ELEMENTS. Those of a <hardware> and of
# a <joint> are its component's: see `complete`. A joint starts at rest, without effort.
PARAMETERS: Final[Mapping[tuple[str, str], Mapping[str, tuple[str, ...]]]] = {
    ("command_interface", "position"): {"min": (), "max": ()},
    ("command_interface", "velocity"): {"min": (), "max": ()},
    ("command_interface", "effort"): {"min": (), "max": ()},
    ("command_interface", "stiffness"): {"max": ()},
    ("command_interface", "damping"): {"max": ()},
    ("state_interface", "position"): {"initial_value": ()},
    ("state_interface", "velocity"): {"initial_value": ("0", "0.0")},
    ("state_interface", "effort"): {"initial_value": ("0", "0.0")},
}


def refuse_without_effect(element: Element, where: str = "") -> None:
    """Raise ConfigError for the first part of a block that would have no effect, with its place.

    Args:
        element: the block, or an element in it.
        where: the place of `element`, for the message.
    """
    name = element.get("name")
    tag = f"<{element.tag}>" if name is None else f"<{element.tag} name='{name}'>"
    where = f"{where}: {tag}" if where else tag
    known = ELEMENTS[element.tag]
    _refuse_others(element.attrib, known.attributes, f"{where}: attribute")
    found = [(child.tag, child.get("name")) for child in element]
    for child, key in zip(element, found, strict=True):
        _refuse_others({child.tag: ""}, dict.fromkeys(known.children, ()), f"{where}: element")
        if found.count(key) > 1:
            raise ConfigError(f"{where}: two <{child.tag}> '{key[1] or ''}', expected one")
        refuse_without_effect(child, where)
    if element.tag.endswith("_interface"):
        parameters = {it.get("name", ""): (it.text or "").strip() for it in element}
        expected = PARAMETERS.get((element.tag, name or ""), {})
        _refuse_others(parameters, expected, f"{where}: parameter")


def _refuse_others(
    found: Mapping[str, str], known: Mapping[str, tuple[str, ...]], where: str
) -> None:
    for key, value in found.items():
        if key not in known:
            expected = f"known: {', '.join(known) or 'none'}"
        elif known[key] and value not in known[key]:
            expected = f"expected {' or '.join(known[key])}"
        else:
            continue
        shown = f"{key} = '{value}'" if value else key
        raise ConfigError(f"{where} {shown} would have no effect: remove it; {expected}")


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
