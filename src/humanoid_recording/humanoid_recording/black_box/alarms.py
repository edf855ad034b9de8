"""The alarms in a ring of events that are in no file yet."""

from operator import attrgetter
from typing import Final

from humanoid_control_common.rules.reasons import Reason
from humanoid_control_common.tick_records.record_file import RecordFile
from humanoid_control_common.tick_records.record_layout import EventKind, Word
from humanoid_control_common.tick_records.record_ring import Event, events_in, report_of

RECOVERY: Final = 5.0  # [s] that clearing a fault may take
_SAVED: Final = {
    Word.LOOP_EVENTS: Word.SAVED_LOOP_EVENTS,
    Word.ROS_EVENTS: Word.SAVED_ROS_EVENTS,
}


class Alarms:
    """The unsaved alarms of the ring `ring`.

    The number of saved events is kept in the record file, for the black box that may follow this
    one. A further report of a source at fault is an alarm only if the fault lasts for `RECOVERY`
    after it: a drive whose fault is being cleared reports every step on its way.
    """

    def __init__(self, file: RecordFile, ring: Word) -> None:
        self._alarms: list[Event] = []  # oldest first
        self._changes: list[Event] = []  # further reports of sources at fault, likewise
        self._faulty: set[str] = set()  # sources at fault
        self._words = file.words
        self._word = ring
        self._ring = file.loop_events if ring is Word.LOOP_EVENTS else file.ros_events
        self._seen = file.words[_SAVED[ring]]  # number of events read
        for event in events_in(self._ring):
            if event.number < self._seen:
                self._take(event)
        self.saved(self._seen)

    def update(self, now: float) -> None:
        """Read the events since the last call; `now` [s, monotonic]."""
        if self._words[self._word] > self._seen:
            fresh = events_in(self._ring, self._seen)
            for event in fresh:
                self._take(event)
            self._seen = fresh[-1].number + 1 if fresh else self._seen
        lasting = [event for event in self._changes if now - event.monotonic / 1e9 > RECOVERY]
        if lasting:
            self._alarms = sorted([*self._alarms, *lasting], key=attrgetter("number"))
            self._changes = [event for event in self._changes if event not in lasting]
        # Events that have left the ring can't be saved any more; a disk may be full for days.
        del self._alarms[: -len(self._ring)], self._changes[: -len(self._ring)]

    def saved(self, seen: int) -> None:
        """Forget the first `seen` events: a file has them."""
        self._words[_SAVED[self._word]] = seen
        self._alarms = [event for event in self._alarms if event.number >= seen]
        self._changes = [event for event in self._changes if event.number >= seen]

    @property
    def waiting(self) -> list[Event]:
        """The alarms, oldest first."""
        return list(self._alarms)

    @property
    def seen(self) -> int:
        """Number of events read."""
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


def event_reason(event: Event) -> Reason:
    """Return text and codes of an event."""
    if event.kind is EventKind.REPORT:
        report = report_of(event)
        message = f": {report.message}" if report.message else ""
        return Reason(f"{report.source} reports {report.level.name}{message}", event.codes)
    return Reason(event.text, event.codes)
