"""Wrap long texts for the terminal."""

import re
import textwrap
from typing import Final

_COMMAND: Final = re.compile(r"`[^`]*`")
_GLUE: Final = "\N{NO-BREAK SPACE}"


def fold(text: str, width: int, rest: str = "    ") -> str:
    """Wrap `text` into lines of at most `width`, indented; commands in backticks stay whole."""
    glued = _COMMAND.sub(lambda command: command[0].replace(" ", _GLUE), text)
    lines = textwrap.fill(
        glued, width, initial_indent="  ", subsequent_indent=rest, break_on_hyphens=False
    )
    return lines.replace(_GLUE, " ")
