"""Message types: the text of their definition, its hash and their class."""

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from humanoid_control_common.errors import RobotError

_TYPE_NAME: Final = re.compile(r"(\w+)/(?:msg/)?(\w+)")
_FIELD_TYPE: Final = re.compile(r"^\s*([\w/]+)(?:<=\d+)?(?:\[[^\]]*\])?\s+\w+", re.MULTILINE)
_COMMENT: Final = re.compile(r"#.*")
_PRIMITIVES: Final = frozenset({
    "bool", "byte", "char", "string", "wstring", "float32", "float64",
    "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
})  # fmt: skip
_BORDER: Final = "=" * 80  # between definitions, by the `ros2msg` encoding of MCAP


class UnknownTypeError(RobotError):
    """A message type that isn't installed here."""


class ChangedTypeError(RobotError):
    """A message type that is installed here with another layout."""


def definition(type_name: str) -> str:
    """Return the definition of a message type and of all types in it, in the encoding `ros2msg`.

    Raises UnknownTypeError if one of them isn't installed.
    """
    text = _read(type_name, ".msg")
    parts = [text]
    seen = {_short(type_name)}
    waiting = _dependencies(type_name, text)
    while waiting:
        name = waiting.pop(0)
        if name not in seen:
            seen.add(name)
            text = _read(name, ".msg")
            parts.append(f"{_BORDER}\nMSG: {name}\n{text}")
            waiting += _dependencies(name, text)
    return "\n".join(parts)


def type_hash(type_name: str) -> str:
    """Return the hash of a version of a type: "RIHS01_…".

    Raises UnknownTypeError if the type isn't installed.
    """
    for entry in json.loads(_read(type_name, ".json"))["type_hashes"]:
        if _short(entry["type_name"]) == _short(type_name):
            return str(entry["hash_string"])
    raise UnknownTypeError(f"{type_name}: its description holds no hash of it")


def message_class(type_name: str) -> Any:
    """Return the Python class of a message type. Raises UnknownTypeError if it isn't installed."""
    package, name = _split(type_name)
    try:
        return getattr(import_module(f"{package}.msg"), name)
    except (ImportError, AttributeError):
        raise _not_installed(type_name) from None


def name_of(kind: Any) -> str:
    """Return the full name of a message's class."""
    return f"{kind.__module__.partition('.')[0]}/msg/{kind.__name__}"


def recorded_class(type_name: str, recorded: bytes) -> Any:
    """Return the Python class of a message type with the definition that is `recorded` in a bag.

    Raises UnknownTypeError if the type isn't installed, ChangedTypeError if its layout is another.
    """
    if not same_layout(recorded.decode(errors="replace"), definition(type_name)):
        raise ChangedTypeError(f"{type_name} has changed since")
    return message_class(type_name)


def same_layout(one: str, other: str) -> bool:
    """Return whether two definitions describe the same bytes, whatever their comments."""
    return _bare(one) == _bare(other)


def _bare(text: str) -> list[str]:
    lines = (" ".join(line.split()) for line in _COMMENT.sub("", text).splitlines())
    return [line for line in lines if line]


def _dependencies(type_name: str, text: str) -> list[str]:
    package = type_name.split("/", maxsplit=1)[0]
    names = _FIELD_TYPE.findall(_COMMENT.sub("", text))
    found = [name for name in names if name not in _PRIMITIVES]
    return [_short(name) if "/" in name else f"{package}/{name}" for name in found]


def _short(type_name: str) -> str:
    """Return the name without "msg", as definitions write it."""
    return type_name.replace("/msg/", "/")


def _split(type_name: str) -> tuple[str, str]:
    match = _TYPE_NAME.fullmatch(type_name)
    if match is None:
        raise UnknownTypeError(f"'{type_name}' is no message type, expected PACKAGE/msg/NAME")
    return match[1], match[2]


def _read(type_name: str, suffix: str) -> str:
    package, name = _split(type_name)
    try:
        share = Path(get_package_share_directory(package))
        return (share / "msg" / f"{name}{suffix}").read_text(encoding="utf-8")
    except (PackageNotFoundError, FileNotFoundError):
        raise _not_installed(type_name) from None


def _not_installed(type_name: str) -> UnknownTypeError:
    return UnknownTypeError(f"message type {type_name} is not installed here")
