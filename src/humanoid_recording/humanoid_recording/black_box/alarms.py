"""The alarms in a ring of events that no file has been made of yet."""

from __future__ import annotations

from operator import attrgetter
from typing import Final

from humanoid_control_common.flight_file import FlightFile
from humanoid_control_common.flight_layout import EventKind, Word
from humanoid_control_common.flight_ring import Event, events_in, report_of

RECOVERY: Final = 5.0  # [s] that clearing a fault may take
_SAVED: Final = {
    Word.LOOP_EVENTS: Word.SAVED_LOOP_EVENTS,
    Word.ROS_EVENTS: Word.SAVED_ROS_EVENTS,
}


class Alarms:
    """Of the ring `ring`. What is saved is noted in the file: a black box that dies is replaced.

    What a source says that was at fault already is an alarm only if it stays so for `RECOVERY`: a
    drive whose fault is being cleared tells of every step on its way, and is well at the end.
    """

    def __init__(self, file: FlightFile, ring: Word) -> None:
        self._alarms: list[Event] = []  # oldest first
        self._changes: list[Event] = []  # what sources at fault have said since, likewise
        self._faulty: set[str] = set()  # sources
        self._words = file.words
        self._word = ring
        self._ring = file.loop_events if ring is Word.LOOP_EVENTS else file.ros_events
        self._seen = file.words[_SAVED[ring]]  # number of events that were looked at
        for event in events_in(self._ring):
            if event.number < self._seen:
                self._take(event)
        self.saved(self._seen)

    def look(self, now: float) -> None:
        """Take notice of what was written since; `now` [s, monotonic]."""
        if self._words[self._word] > self._seen:
            fresh = events_in(self._ring, self._seen)
            for event in fresh:
                self._take(event)
            self._seen = fresh[-1].number + 1 if fresh else self._seen
        lasting = [event for event in self._changes if now - event.monotonic / 1e9 > RECOVERY]
        if lasting:
            self._alarms = sorted([*self._alarms, *lasting], key=attrgetter("number"))
            self._changes = [event for event in self._changes if event not in lasting]
        # What is no longer in the ring is in no file any more; a full disk may last for days.
        del self._alarms[: -len(self._ring)], self._changes[: -len(self._ring)]

    def saved(self, seen: int) -> None:
        """There is a file with the first `seen` events."""
        self._words[_SAVED[self._word]] = seen
        self._alarms = [event for event in self._alarms if event.number >= seen]
        self._changes = [event for event in self._changes if event.number >= seen]

    @property
    def waiting(self) -> list[Event]:
        """The alarms, oldest first."""
        return list(self._alarms)

    @property
    def seen(self) -> int:
        """Number of events that were looked at."""
        return self._seen

    def _take(self, event: Event) -> None:
        if event.kind is not EventKind.REPORT:
            if event.is_alarm:
                self._alarms.append(event)
            return
        source = report_of(event).source
        if not event.is_alarm:
            self._faulty.discard(source)
            self._changes = [e for e in self._changes if report_of(e).source != source]
        elif source in self._faulty:
            self._changes.append(event)
        else:
            self._alarms.append(event)
            self._faulty.add(source)


def in_words(event: Event) -> str:
    """What an event says, for people."""
    if event.kind is EventKind.REPORT:
        report = report_of(event)
        said = f": {report.message}" if report.message else ""
        return f"{report.source} reports {report.level.name}{said}"
    return event.text
