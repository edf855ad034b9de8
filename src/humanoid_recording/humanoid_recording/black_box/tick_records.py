"""A copy of the records of a control process, in order, on one time line."""

from dataclasses import dataclass

from humanoid_control_common.tick_records.record_file import RecordFile
from humanoid_control_common.tick_records.record_layout import RecordFacts
from humanoid_control_common.tick_records.record_ring import Event, events_in, whole_records
from humanoid_control_common.tick_records.record_types import Records


@dataclass(frozen=True, slots=True)
class TickRecords:
    """Ticks and events, oldest first.

    `offset` [ns] converts monotonic to wall time: one for all, so that a clock that was set
    meanwhile leaves no gap.
    """

    facts: RecordFacts
    ticks: Records
    events: tuple[Event, ...]  # of both rings
    offset: int

    @property
    def start(self) -> int:
        """Time of the first tick [ns, monotonic]; the events may begin earlier."""
        if len(self.ticks):
            return int(self.ticks["monotonic"][0])
        return self.events[0].monotonic if self.events else 0

    def wall(self, monotonic: int) -> int:
        """Return the wall time [ns] of a monotonic time [ns]."""
        return monotonic + self.offset


def read_tick_records(file: RecordFile) -> TickRecords:
    """Copy the present records of `file`."""
    ticks = whole_records(file.ticks)
    events = [*events_in(file.loop_events), *events_in(file.ros_events)]
    events.sort(key=lambda event: event.monotonic)
    offset = 0
    if len(ticks):
        offset = int(ticks["wall"][-1]) - int(ticks["monotonic"][-1])
    elif events:
        offset = events[-1].wall - events[-1].monotonic
    return TickRecords(file.facts, ticks, tuple(events), offset)
