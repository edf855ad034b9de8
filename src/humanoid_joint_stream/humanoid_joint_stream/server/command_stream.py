"""One stream of commands: its checks, its counters and its end. Time is an argument [ns]."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from humanoid_joint_client.status import Status
from humanoid_joint_stream.command.executed_command import ExecutedCommand
from humanoid_joint_stream.command.update import Checked, UpdateCheck, UpdateError
from humanoid_joint_stream.facts import StreamFacts


@dataclass(slots=True)
class Counters:
    """Counts of the updates of one stream."""

    received: int = 0
    accepted: int = 0
    rejected: int = 0
    late: int = 0


class LastUpdate(NamedTuple):
    """The latest update received, as in the states of its client."""

    key: int = 0
    received: int = 0
    status: Status = Status.UNKNOWN
    message: str = ""
    short_horizon: bool = False


class End(NamedTuple):
    """The reason for the end of a stream."""

    status: Status
    message: str


class CommandStream:
    """A stream that is open, or was.

    Args:
        opened: [ns].
        on_end: called once, by the thread that ends it.
    """

    def __init__(
        self, facts: StreamFacts, opened: int, on_end: Callable[[], object] = lambda: None
    ) -> None:
        self.opened = opened
        self._on_end = on_end
        self.counters = Counters()
        self.last = LastUpdate()
        self.accepted: ExecutedCommand | None = None  # the latest command
        self.has_been_active = False
        self.applied_before = self.clipped_before = 0  # of the controller, when it was opened
        self.end: End | None = None
        self.has_begun = False  # its first update has come
        self.has_no_more = False  # its last update has come; why may follow
        self._check = UpdateCheck(facts)

    def receive(self, update: Any, now: int) -> Checked | UpdateError:
        """Check and count an update; None is one that is no message."""
        self.counters.received += 1
        key = 0 if update is None else update.user_command_key
        try:
            checked = self._check.check(update, now)
        except UpdateError as error:
            self.counters.rejected += 1
            self.counters.late += error.status is Status.EXPIRED
            self.last = LastUpdate(key, now, error.status, str(error))
            return error
        self.counters.accepted += 1
        self.accepted = checked.command
        self.last = LastUpdate(key, now, Status.OK, "", checked.short_horizon)
        return checked

    def end_unless_begun(self) -> None:
        """End a stream whose first update has not come."""
        if not self.has_begun:
            self.finish(Status.INACTIVE, "no update came")

    def finish(self, status: Status, message: str) -> None:
        """End the stream; the first reason counts. Its handler answers then."""
        if self.end is None:
            self.end = End(status, message)
            self._on_end()
