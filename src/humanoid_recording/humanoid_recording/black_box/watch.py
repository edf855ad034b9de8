"""Looks at a flight record, and knows when there is something to save. No ROS, no disk."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from humanoid_control_common.flight_file import FlightFile
from humanoid_control_common.flight_layout import Word
from humanoid_recording.black_box.alarms import Alarms, in_words

AFTERWARDS: Final = 2.1  # [s] after a fault that belong to its file: two, and a tick that is late
# [s] between two files: one that comes sooner waits, and is in the next one, which covers a minute.
PAUSE: Final = 10.0
STILL: Final = 1.0  # [s] without a tick; or so many periods, where simulated time is slow:
STILL_PERIODS: Final = 20
ABSENCE: Final = 0.5  # [s] between two looks after which the watch was held up, not the loop


@dataclass(frozen=True, slots=True)
class Due:
    """A file is to be made now; `seen` is the number of events of each ring that are in it.

    `fault`: when the first of the reasons was noted [ns, monotonic]; None: only now.
    `whole`: the control process had ended before; nothing is written behind it.
    """

    reasons: tuple[str, ...]
    fault: int | None
    seen: tuple[int, int]
    whole: bool


class Watch:
    """Watches the flight record of one control process; `clock` is monotonic [s].

    `look` is to be called about ten times a second; `saved` or `failed` for each Due.
    """

    def __init__(self, file: FlightFile, clock: Callable[[], float] = time.monotonic) -> None:
        self.file = file
        self.over = False  # nothing will be written to it any more, and all is saved
        self._clock = clock
        self._alarms = Alarms(file, Word.LOOP_EVENTS), Alarms(file, Word.ROS_EVENTS)
        self._not_before = self._looked = self._ticked = clock()
        self._ticks = 0
        self._told_still = False

    def look(self, *, last: bool = False) -> Due | None:
        """Whether there is something to save; `last`: there will be no other look."""
        now = self._clock()
        self._look_for_ticks(now)
        # In this order: who has ended writes nothing behind our back.
        gone = not self.file.writer_lives()
        ended = bool(self.file.words[Word.ENDED])
        lost = gone and not ended
        for alarms in self._alarms:
            alarms.look(now)
        reasons = self._reasons()
        at_once = ended or lost or last
        if lost:
            reasons.append(
                f"the control process (pid {self.file.facts.pid}) was killed, or crashed"
            )
        elif self._stands_still(now) and not ended:
            reasons.append(f"the control loop has stood still for {now - self._ticked:.1f} s")
            at_once = True
        if lost and not self.file.words[Word.TICKS]:  # it never came up: there is nothing to tell
            self.file.remove()
            reasons = []
        self.over = (ended or lost) and not reasons
        if not reasons or (now < self._not_before and not last):
            return None
        fault = self._first_alarm
        if not at_once and fault is not None and now < fault / 1e9 + AFTERWARDS:
            return None
        seen = self._alarms[0].seen, self._alarms[1].seen
        return Due(tuple(reasons), fault, seen, whole=ended or lost)

    def saved(self, due: Due) -> None:
        """There is a file of it."""
        for alarms, seen in zip(self._alarms, due.seen, strict=True):
            alarms.saved(seen)
        now = self._clock()
        self._not_before = now + PAUSE
        self._told_still = self._told_still or self._stands_still(now)
        # One that ended while the file was made has something left to tell.
        if due.whole:
            self.over = True
            self.file.remove()

    def failed(self) -> None:
        """There is none; the disk is not bothered again at once."""
        self._not_before = self._clock() + PAUSE

    def _reasons(self) -> list[str]:
        waiting = [event for alarms in self._alarms for event in alarms.waiting]
        waiting.sort(key=lambda event: event.monotonic)
        self._first_alarm = waiting[0].monotonic if waiting else None
        # The same fault is told by several: each sentence once.
        return list(dict.fromkeys(map(in_words, waiting)))

    def _look_for_ticks(self, now: float) -> None:
        ticks = self.file.words[Word.TICKS]
        if ticks != self._ticks:
            self._told_still = False
        if ticks != self._ticks or now - self._looked > ABSENCE:
            self._ticked, self._ticks = now, ticks
        self._looked = now

    def _stands_still(self, now: float) -> bool:
        limit = max(STILL, STILL_PERIODS * self.file.facts.wall_period)
        return self._ticks > 0 and not self._told_still and now - self._ticked > limit
