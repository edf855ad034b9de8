"""The records of the simulated control processes: memory of this process only.

A trial may be a copy of a process (fork): memory that processes share would mix the trials.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from humanoid_control_common.robot.robot_namespace import ROOT
from humanoid_control_common.rules.reasons import Reason
from humanoid_control_common.tick_records.record_file import (
    RecordFile,
    RecordStore,
    Writer,
    size_of_record,
)
from humanoid_control_common.tick_records.record_layout import RecordFacts
from humanoid_recording.black_box.messages import BagMessage
from humanoid_recording.black_box.store import Store
from humanoid_recording.black_box.tick_records import TickRecords
from humanoid_stepped.scheduler import Process


@dataclass(frozen=True, slots=True)
class FaultData:
    """The black box's data of a fault, instead of a file."""

    records: TickRecords
    reasons: tuple[Reason, ...]
    messages: tuple[BagMessage, ...]
    fault: int | None  # [ns, monotonic]


@dataclass(frozen=True, slots=True)
class MemoryStore(Store):
    """The black box's files, in memory. See Store."""

    kept: list[FaultData] = field(default_factory=list)

    def keep(
        self,
        records: TickRecords,
        reasons: Sequence[Reason],
        received: Iterable[BagMessage],
        fault: int | None,
    ) -> Path:
        """See Store."""
        self.kept.append(FaultData(records, tuple(reasons), tuple(received), fault))
        return self.folder / f"{len(self.kept)}"

    def files(self) -> list[Path]:
        """See Store."""
        return [self.folder / f"{number + 1}" for number in reversed(range(len(self.kept)))]

    def remove_unfinished(self) -> None:
        """See Store: there are none."""


_FOLDER: Final = Path("/memory")  # of names, not of files


class MemoryRecord(RecordFile):
    """The record of one control process. See RecordFile."""

    def __init__(
        self, path: Path, facts: RecordFacts, memory: mmap.mmap, records: ProcessRecords
    ) -> None:
        super().__init__(path, facts, memory)
        self._records = records

    def writer_lives(self) -> bool:
        """See RecordFile."""
        return self._records.writer_runs

    def remove(self) -> None:
        """See RecordFile."""
        self._records.store.found.pop(self.path, None)


class MemoryRecords(RecordStore):
    """The records of all control processes, as the black box finds them. See RecordStore."""

    def __init__(self) -> None:
        super().__init__(_FOLDER)
        self.found: dict[Path, MemoryRecord] = {}
        self._count = 0

    def of_process(self, process: Process) -> ProcessRecords:
        """Return the store for a new control process."""
        self._count += 1
        return ProcessRecords(self, process, self._count)

    def files(self, namespace: str = ROOT) -> list[Path]:
        """See RecordStore."""
        return list(self.found)

    def attach(self, path: Path) -> RecordFile:
        """See RecordStore."""
        return self.found[path]


class ProcessRecords(RecordStore):
    """The store of one control process. See RecordStore."""

    def __init__(self, store: MemoryRecords, process: Process, number: int) -> None:
        super().__init__(_FOLDER)
        self.store, self._process, self._number = store, process, number

    @property
    def writer_runs(self) -> bool:
        """Return whether the process exists, running or held up."""
        return not self._process.gone

    def writer(self) -> Writer:
        """See RecordStore."""
        return Writer(self._number, self._number, "stepped")

    def create(self, facts: RecordFacts) -> RecordFile:
        """See RecordStore."""
        path = self.folder / f"{self._number}"
        memory = mmap.mmap(-1, size_of_record(facts), mmap.MAP_PRIVATE)
        record = MemoryRecord(path, facts, memory, self)
        record.begin()
        self.store.found[path] = record
        return record
