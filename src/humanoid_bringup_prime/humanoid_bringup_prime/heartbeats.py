"""Heartbeats as they are written on command lines: who must be heard, and how often."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from humanoid_control_common.errors import ConfigError

_NAME: Final = re.compile(r"[a-z][a-z0-9_]*")  # it becomes the name of a parameter


def read_heartbeats(texts: Iterable[str]) -> dict[str, float]:
    """The longest silence [s] by name, from texts like "operator_console:0.5".

    Raises ConfigError that shows the text.
    """
    found = {}
    for text in texts:
        name, _, number = text.partition(":")
        try:
            seconds = float(number)
        except ValueError:
            seconds = 0.0
        if not _NAME.fullmatch(name) or not 0.0 < seconds < float("inf"):
            raise ConfigError(f"heartbeat is '{text}', expected NAME:SECONDS (a_name:0.5)")
        found[name] = seconds
    return found
