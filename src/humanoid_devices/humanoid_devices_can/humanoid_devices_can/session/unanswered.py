"""Commands that motors have left unanswered."""


class Unanswered:
    """Since when each motor has left commands unanswered. Any thread may call its methods."""

    def __init__(self, motors: int) -> None:
        self._since: list[float | None] = [None] * motors  # [s]; None: it owes no answer

    def commanded(self, motor: int, now: float) -> None:
        """Note a command that was sent at `now` [s]."""
        if self._since[motor] is None:
            self._since[motor] = now

    def answered(self, motor: int, time: float) -> None:
        """Note an answer of `time` [s]: the command must have been sent before it."""
        since = self._since[motor]
        if since is not None and time > since:
            self._since[motor] = None

    def duration(self, motor: int, now: float) -> float:
        """Return how long [s] a motor has owed an answer at `now` [s]."""
        since = self._since[motor]
        return 0.0 if since is None else now - since
