"""A flight record as it was at one moment, in order, on one time line."""

from __future__ import annotations

from dataclasses import dataclass

from humanoid_control_common.flight_file import FlightFile
from humanoid_control_common.flight_layout import FlightFacts, Records
from humanoid_control_common.flight_ring import Event, events_in, whole_records


@dataclass(frozen=True, slots=True)
class Flight:
    """What was recorded: ticks and events, oldest first.

    `offset` [ns] makes wall time of monotonic time: one for all, so that a clock which was set
    meanwhile doesn't tear the record apart.
    """

    facts: FlightFacts
    ticks: Records
    events: tuple[Event, ...]  # of both rings
    offset: int

    @property
    def start(self) -> int:
        """When the ticks begin [ns, monotonic]; the events may begin earlier."""
        if len(self.ticks):
            return int(self.ticks["monotonic"][0])
        return self.events[0].monotonic if self.events else 0

    def wall(self, monotonic: int) -> int:
        """Wall time of a moment [ns]."""
        return monotonic + self.offset


def read_flight(file: FlightFile) -> Flight:
    """Copy what is recorded in `file` now."""
    ticks = whole_records(file.ticks)
    events = [*events_in(file.loop_events), *events_in(file.ros_events)]
    events.sort(key=lambda event: event.monotonic)
    offset = 0
    if len(ticks):
        offset = int(ticks["wall"][-1]) - int(ticks["monotonic"][-1])
    elif events:
        offset = events[-1].wall - events[-1].monotonic
    return Flight(file.facts, ticks, tuple(events), offset)
