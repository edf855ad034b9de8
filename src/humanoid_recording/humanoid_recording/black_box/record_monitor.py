"""Decide when the records of a control process must be saved. No ROS, no disk."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from humanoid_control_common.rules.reasons import Reason, united
from humanoid_control_common.tick_records.record_file import RecordFile
from humanoid_control_common.tick_records.record_layout import Word
from humanoid_controller_manager.reason_codes import LOOP_STANDS_STILL
from humanoid_recording.black_box.alarms import Alarms, event_reason
from humanoid_recording.reason_codes import PROCESS_KILLED

AFTERWARDS: Final = 2.1  # [s] after a fault in its file: two, and a late tick
# [s] between two files: a sooner fault waits for the next file, which covers a minute.
PAUSE: Final = 10.0
STILL: Final = 1.0  # [s] without a tick; or this many periods, where simulated time is slow:
STILL_PERIODS: Final = 20
ABSENCE: Final = 0.5  # [s] between two checks after which the black box was held up, not the loop


@dataclass(frozen=True, slots=True)
class PendingFile:
    """A file to be written now; `seen` is the number of events of each ring that are in it.

    `fault`: time of the first of the reasons [ns, monotonic]; None: now.
    `whole`: the control process had ended before; the records are complete.
    """

    reasons: tuple[Reason, ...]
    fault: int | None
    seen: tuple[int, int]
    whole: bool


class RecordMonitor:
    """Monitors the records of one control process; `clock` is monotonic [s].

    `check` is to be called about ten times a second; `saved` or `failed` for each result.
    """

    def __init__(self, file: RecordFile, clock: Callable[[], float]) -> None:
        self.file = file
        self.over = False  # the records are complete, and saved
        self._clock = clock
        self._alarms = Alarms(file, Word.LOOP_EVENTS), Alarms(file, Word.ROS_EVENTS)
        self._not_before = self._checked = self._ticked = clock()
        self._ticks = 0
        self._saved_still = False

    def check(self, *, last: bool = False) -> PendingFile | None:
        """Return the file that is due, if one is; `last`: no check will follow."""
        now = self._clock()
        self._update_ticks(now)
        # In this order: after its end the process writes nothing.
        gone = not self.file.writer_lives()
        ended = bool(self.file.words[Word.ENDED])
        lost = gone and not ended
        for alarms in self._alarms:
            alarms.update(now)
        reasons = self._reasons()
        at_once = ended or lost or last
        if lost:
            text = f"the control process (pid {self.file.facts.pid}) was killed, or crashed"
            reasons.append(Reason.of(PROCESS_KILLED, text))
        elif self._stands_still(now) and not ended:
            text = f"the control loop has stood still for {now - self._ticked:.1f} s"
            reasons.append(Reason.of(LOOP_STANDS_STILL, text))
            at_once = True
        if lost and not self.file.words[Word.TICKS]:  # it never came up: nothing to save
            self.file.remove()
            reasons = []
        self.over = (ended or lost) and not reasons
        if not reasons or (now < self._not_before and not last):
            return None
        fault = self._first_alarm
        if not at_once and fault is not None and now < fault / 1e9 + AFTERWARDS:
            return None
        seen = self._alarms[0].seen, self._alarms[1].seen
        return PendingFile(tuple(reasons), fault, seen, whole=ended or lost)

    def saved(self, due: PendingFile) -> None:
        """Note that `due` is in a file."""
        for alarms, seen in zip(self._alarms, due.seen, strict=True):
            alarms.saved(seen)
        now = self._clock()
        self._not_before = now + PAUSE
        self._saved_still = self._saved_still or self._stands_still(now)
        # Events of an end during the writing are still to be saved.
        if due.whole:
            self.over = True
            self.file.remove()

    def failed(self) -> None:
        """Note that no file could be written; the next try waits for PAUSE."""
        self._not_before = self._clock() + PAUSE

    def _reasons(self) -> list[Reason]:
        waiting = [event for alarms in self._alarms for event in alarms.waiting]
        waiting.sort(key=lambda event: event.monotonic)
        self._first_alarm = waiting[0].monotonic if waiting else None
        # Several sources report one fault: each reason once.
        codes: dict[str, tuple[str, ...]] = {}
        for reason in map(event_reason, waiting):
            codes[reason.text] = united((codes.get(reason.text, ()), reason.codes))
        return [Reason(text, found) for text, found in codes.items()]

    def _update_ticks(self, now: float) -> None:
        ticks = self.file.words[Word.TICKS]
        if ticks != self._ticks:
            self._saved_still = False
        if ticks != self._ticks or now - self._checked > ABSENCE:
            self._ticked, self._ticks = now, ticks
        self._checked = now

    def _stands_still(self, now: float) -> bool:
        limit = max(STILL, STILL_PERIODS * self.file.facts.wall_period)
        expected = self._ticks > 0 and not self.file.words[Word.TICKS_ENDED]
        return expected and not self._saved_still and now - self._ticked > limit
