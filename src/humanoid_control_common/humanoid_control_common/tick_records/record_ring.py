"""Reads the rings of a record while they are written, and writes events into them."""

import threading
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel, SafetyReport
from humanoid_control_common.tick_records.record_file import RecordFile
from humanoid_control_common.tick_records.record_layout import CODES, TEXT, EventKind, Word
from humanoid_control_common.tick_records.record_types import Records

SOURCE: Final = 200  # characters of a source's name that are kept


class Event(NamedTuple):
    """One event. Times in [ns]; `number` counts those of its ring from 0."""

    number: int
    monotonic: int
    wall: int
    kind: EventKind
    level: int
    text: str
    codes: tuple[str, ...] = ()  # reason codes

    @property
    def is_alarm(self) -> bool:
        """True if the black box makes a file for it."""
        return self.kind is EventKind.FALL or (
            self.kind is EventKind.REPORT and self.level >= SafetyLevel.FAULT
        )


def whole_records(ring: Records) -> Records:
    """Return a copy of the whole records of `ring`, oldest first, without gaps.

    Records being written are left out, and with them later ones that a slow copy may contain.
    """
    latest = ring["end"].max()
    copied = ring.copy()
    numbers = copied["begin"]
    slots = np.arange(len(ring), dtype=np.uint64)
    whole = (numbers != 0) & (numbers == copied["end"]) & (numbers == ring["begin"])
    whole &= (numbers <= latest) & ((numbers - np.uint64(1)) % np.uint64(len(ring)) == slots)
    found: Records = copied[whole]
    return found[np.argsort(found["begin"])]


def events_in(ring: Records, first: int = 0) -> list[Event]:
    """Return the whole events of `ring`, from number `first` on."""
    return [
        Event(
            int(record["begin"]) - 1,
            int(record["monotonic"]),
            int(record["wall"]),
            EventKind(int(record["kind"])),
            int(record["level"]),
            record["text"].decode(errors="replace"),
            tuple(record["codes"].decode(errors="replace").split()),
        )
        for record in whole_records(ring)
        if int(record["begin"]) > first
    ]


def report_text(source: str, flags: int, message: str) -> str:
    """Return the text of an event of the kind REPORT. `source` may be any text."""
    name = " ".join(source[:SOURCE].split())  # no tab, and short enough for the rest
    return f"{name}\t{flags}\t{message}"


def report_of(event: Event) -> SafetyReport:
    """Return the report in an event of the kind REPORT."""
    source, flags, message = event.text.split("\t", 2)
    return SafetyReport(
        source, SafetyLevel(event.level), SafetyFlag(int(flags)), message, event.codes
    )


class EventWriter:
    """Writes the events of one ring. `ROS_EVENTS` may be written by several threads."""

    def __init__(self, file: RecordFile, word: Word, machine: Machine = LINUX) -> None:
        self._ring = file.loop_events if word is Word.LOOP_EVENTS else file.ros_events
        self._words, self._machine = file.words, machine
        self._word = word
        self._lock = threading.Lock()  # never contended in the loop's ring: it has one writer

    def add(self, kind: EventKind, text: str, level: int = 0, codes: Sequence[str] = ()) -> None:
        """Write an event; a text longer than TEXT is cut, codes beyond CODES are left out."""
        known = _fitting(codes)
        with self._lock:
            number = self._words[self._word] + 1
            record = self._ring[(number - 1) % len(self._ring)]
            record["begin"] = number
            record["monotonic"] = self._machine.clock_ns()
            record["wall"] = self._machine.system_time_ns()
            record["kind"] = kind
            record["level"] = level
            record["text"] = text.encode(errors="replace")[:TEXT]
            record["codes"] = known
            record["end"] = number
            self._words[self._word] = number


def _fitting(codes: Sequence[str]) -> bytes:
    """Return the first `codes` that fit into an event; a message may contain thousands."""
    found = b""
    for name in codes:
        longer = b" ".join(filter(None, (found, name.encode(errors="replace"))))
        if len(longer) > CODES:
            break
        found = longer
    return found
