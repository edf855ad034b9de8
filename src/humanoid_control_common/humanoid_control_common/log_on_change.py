"""A log without repetitions of the same text."""

from collections.abc import Callable


class LogOnChange:
    """Logs a text when it differs from the last one."""

    def __init__(self, log: Callable[[str], object]) -> None:
        self._log = log
        self._last = ""

    def __call__(self, text: str) -> None:
        """Log `text`, unless it is the latest one."""
        if text != self._last:
            self._last = text
            self._log(text)

    def forget(self) -> None:
        """Log the next text in any case."""
        self._last = ""
