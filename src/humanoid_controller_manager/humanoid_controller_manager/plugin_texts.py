"""Texts of plug-ins, made fit for logs and messages: bounded, and valid UTF-8.

The classes of their errors are unknown: `str` and `repr` may raise.
"""

from collections.abc import Callable
from typing import Final

from humanoid_control_common.errors import RobotError

# None may end a thread of the control process: a plug-in may call exit(), and a cancelled coroutine
# or a panic of compiled code is no Exception.
PLUGIN_ERRORS: Final = (BaseException,)
LONGEST: Final = 2000  # characters of a text: the mode manager publishes some at 50 Hz


def plain(text: str) -> str:
    """Return `text`, cut to LONGEST characters and without characters that UTF-8 has not."""
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]} … ({len(text)} characters)"
    return text.encode("utf-8", "replace").decode("utf-8")


def words_of(error: BaseException) -> str:
    """Return the text of `error`, or its type."""
    return _attempt(str, error) or type(error).__name__


def told(error: BaseException) -> str:
    """Return the text of an error that is raised on purpose; type and text of another one."""
    words, kind = words_of(error), type(error).__name__
    return words if isinstance(error, RobotError) or words == kind else f"{kind}: {words}"


def repr_of(error: BaseException) -> str:
    """Return type and arguments of `error`, or its type."""
    return _attempt(repr, error) or type(error).__name__


def _attempt(make: Callable[[BaseException], str], error: BaseException) -> str:
    try:
        return plain(make(error))
    except PLUGIN_ERRORS:
        return ""
