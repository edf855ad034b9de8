"""Reasons: codes for programs, beside a text for people.

A program decides on codes only, and never reads a text. Each package defines its codes in a module
`reason_codes`, next to the code that gives them; docs/reason_codes.md lists all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from humanoid_control_common.errors import ControllerError

_NAME: Final = re.compile(r"[A-Z][A-Z0-9]*(_[A-Z0-9]+)*")


@dataclass(frozen=True, slots=True)
class ReasonCode:
    """One code. Its name is stable: messages, recordings and programs rely on it."""

    name: str  # UPPER_SNAKE
    meaning: str
    remedy: str

    def __str__(self) -> str:
        return self.name


class CodeTable:
    """The codes of one part of the robot, in the order in which they are documented."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._codes: dict[str, ReasonCode] = {}

    def add(self, name: str, meaning: str, remedy: str) -> ReasonCode:
        """Define a code. Raises ValueError for a wrong or known name, or without an explanation."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"reason code '{name}': expected UPPER_SNAKE")
        if name in self._codes:
            raise ValueError(f"reason code '{name}' is defined twice in '{self.title}'")
        if not (meaning and remedy):
            raise ValueError(f"reason code '{name}' needs a meaning and a remedy")
        code = self._codes[name] = ReasonCode(name, meaning, remedy)
        return code

    def __iter__(self) -> Iterator[ReasonCode]:
        return iter(self._codes.values())


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is so. False if it has no code: then there is no reason.

    `codes` are names, as a report of another program may have codes that are not known here. The
    first one is the reason's own; those of its causes follow.
    """

    text: str = ""
    codes: tuple[str, ...] = ()

    @classmethod
    def of(cls, code: ReasonCode, text: str, *causes: Reason) -> Reason:
        """Return the reason `code` with its `text`, which may quote its `causes`."""
        return cls(text, united([(code.name,), *(cause.codes for cause in causes)]))

    def worded(self, text: str) -> Reason:
        """Return the same reason in other words."""
        return Reason(text, self.codes)

    def __bool__(self) -> bool:
        return bool(self.codes)

    def __contains__(self, code: ReasonCode) -> bool:
        return code.name in self.codes

    def __str__(self) -> str:
        return self.text


NO_REASON: Final = Reason()


class ReasonedError(ControllerError):
    """A controller failed for a reason with a code of its own."""

    def __init__(self, code: ReasonCode, text: str) -> None:
        super().__init__(text)
        self.reason = Reason.of(code, text)


def joined(reasons: Iterable[Reason], separator: str = "; ") -> Reason:
    """Return all `reasons` as one, each once; those that are none are left out."""
    given = dict.fromkeys([reason for reason in reasons if reason])
    if not given:
        return NO_REASON
    return Reason(separator.join(it.text for it in given), united(it.codes for it in given))


def united(codes: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Return all codes, each once, in order."""
    return tuple(dict.fromkeys(name for some in codes for name in some))
