"""Expansions of xacro files that tests share: a process makes each of them once.

An expansion takes a quarter of a second, and many tests begin with the same one. It is used again
only with the same arguments and installed packages, and while its files are unchanged.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import xacro

PACKAGES: Final = "AMENT_PREFIX_PATH"  # where xacro finds packages


@dataclass(frozen=True)
class Expansion:
    """The part of xacro's document that the stack uses."""

    text: str
    files: Mapping[Path, bytes]  # files of the expansion

    def toprettyxml(self, indent: str) -> str:
        """Return the URDF."""
        del indent
        return self.text

    @property
    def is_current(self) -> bool:
        """Return True if its files are unchanged."""
        return all(
            file.is_file() and file.read_bytes() == content for file, content in self.files.items()
        )


class Expansions:
    """Replaces `xacro.process_file`, which is `process_file`."""

    def __init__(self, process_file: Callable[..., Any]) -> None:
        self._process_file = process_file
        self._known: dict[object, Expansion] = {}

    def __call__(self, file: str, *, mappings: Mapping[str, str]) -> Expansion:
        """See xacro. Raises what it raises."""
        # Tests have files with the same content in several folders.
        key = file, os.environ.get(PACKAGES), *((n, _content(it)) for n, it in mappings.items())
        found = self._known.get(key)
        if found is None or not found.is_current:
            found = self._expansion(file, mappings)
            if not any(Path(it).is_absolute() and it in found.text for it in mappings.values()):
                self._known[key] = found
        return found

    def _expansion(self, file: str, mappings: Mapping[str, str]) -> Expansion:
        document = self._process_file(file, mappings=dict(mappings))
        files = {Path(it) for it in (file, *xacro.all_includes)} - {*map(Path, mappings.values())}
        contents = {it: it.read_bytes() for it in files if it.is_file()}
        return Expansion(str(document.toprettyxml(indent="  ")), contents)


def _content(value: str) -> str | bytes:
    """Return the content of the file that an argument names, or the argument."""
    path = Path(value)
    return path.read_bytes() if path.is_absolute() and path.is_file() else value


def share_expansions() -> None:
    """Expand each description once in this process."""
    xacro.process_file = Expansions(xacro.process_file)
