"""The ROS namespace of a robot. Several robots share a ROS domain, each in its own namespace.

A namespace is empty (the root: one robot alone) or absolute, such as "/left". All topics, services
and frames of a robot have relative names, so that they follow it.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Final

from humanoid_control_common.errors import ConfigError

ROOT: Final = ""
_WORDS: Final = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)+")  # those that rmw accepts
_RULE: Final = "__ns:="
_REMAP: Final = ("-r", "--remap")


def checked_namespace(text: str) -> str:
    """Return `text` ("left", "/left", "/left/", "/" or empty) as an absolute namespace or ROOT.

    Raises ConfigError that shows the text.
    """
    stripped = text.strip().strip("/")
    if not stripped:
        return ROOT
    namespace = f"/{stripped}"
    if not _WORDS.fullmatch(namespace):
        raise ConfigError(
            f"namespace is '{text}', expected words of letters, digits and _ that begin with no "
            "digit, joined by /, such as /left"
        )
    return namespace


def namespace_of(arguments: Sequence[str]) -> str:
    """Return the namespace that a ROS command line gives to every node of its process.

    Of two rules the first counts, as in rcl. Rules for single nodes (`NODE:__ns:=/left`) do not.

    Raises ConfigError for one that ROS refuses.
    """
    for flag, rule in pairwise(arguments):
        if flag in _REMAP and rule.startswith(_RULE):
            return checked_namespace(rule.removeprefix(_RULE))
    return ROOT


def remapping(namespace: str) -> tuple[str, ...]:
    """Return the ROS arguments that bring every node of a process into `namespace`."""
    return ("-r", f"{_RULE}{namespace}") if namespace else ()


def absolute(namespace: str, name: str) -> str:
    """Return the absolute name of a relative topic, service or node name. `/name` stays."""
    return name if name.startswith("/") else f"{namespace}/{name}"


def frame_prefix(namespace: str) -> str:
    """Return what robot_state_publisher puts before each frame: "left/"; empty in the root."""
    return f"{namespace.strip('/')}/" if namespace.strip("/") else ""


def file_mark(namespace: str) -> str:
    """Return what distinguishes the files of robots in one folder: ".left"; empty in the root.

    Names in ROS have no dots, so that no two namespaces have the same mark.
    """
    return namespace.replace("/", ".")


def subfolder(namespace: str) -> PurePath:
    """Return the path of a robot's own folder below one that robots share; "." in the root."""
    return PurePath(namespace.strip("/"))


def in_words(place: str, namespace: str) -> str:
    """Return where a robot is, for messages: a `place` such as "ROS domain 5", and a namespace."""
    return f"{place}, namespace {namespace}" if namespace else place
