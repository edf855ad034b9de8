"""What several joints have in common is said once: a message has room for the reader too."""

from __future__ import annotations

from collections.abc import Iterable


def said_together(texts: Iterable[tuple[str, str]]) -> str:
    """'a, b: does not answer; c: INIT' of (who, what) pairs, in the order of first appearance."""
    who: dict[str, list[str]] = {}
    for name, text in texts:
        who.setdefault(text, []).append(name)
    return "; ".join(f"{', '.join(names)}: {text}" for text, names in who.items())
