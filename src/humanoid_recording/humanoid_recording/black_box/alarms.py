"""The alarms in a ring of events that no file has been made of yet."""

from __future__ import annotations

from typing import Final

from humanoid_control_common.flight_file import FlightFile
from humanoid_control_common.flight_layout import EventKind, Word
from humanoid_control_common.flight_ring import Event, events_in, report_of

_SAVED: Final = {
    Word.LOOP_EVENTS: Word.SAVED_LOOP_EVENTS,
    Word.ROS_EVENTS: Word.SAVED_ROS_EVENTS,
}


class Alarms:
    """Of the ring `ring`. What is saved is noted in the file: a black box that dies is replaced."""

    def __init__(self, file: FlightFile, ring: Word) -> None:
        self.waiting: list[Event] = []  # oldest first
        self._words = file.words
        self._word = ring
        self._ring = file.loop_events if ring is Word.LOOP_EVENTS else file.ros_events
        self._seen = file.words[_SAVED[ring]]  # number of events that were looked at

    def look(self) -> None:
        """Take notice of what was written since."""
        if self._words[self._word] > self._seen:
            fresh = events_in(self._ring, self._seen)
            self.waiting += [event for event in fresh if event.is_alarm]
            self._seen = fresh[-1].number + 1 if fresh else self._seen

    def saved(self, seen: int) -> None:
        """There is a file with the first `seen` events."""
        self._words[_SAVED[self._word]] = seen
        self.waiting = [event for event in self.waiting if event.number >= seen]

    @property
    def seen(self) -> int:
        """Number of events that were looked at."""
        return self._seen


def in_words(event: Event) -> str:
    """What an event says, for people."""
    if event.kind is EventKind.REPORT:
        report = report_of(event)
        said = f": {report.message}" if report.message else ""
        return f"{report.source} reports {report.level.name}{said}"
    return event.text
