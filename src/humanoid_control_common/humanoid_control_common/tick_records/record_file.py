"""Files of the tick recorder: memory that outlives its writer."""

import errno
import mmap
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from humanoid_control_common.errors import RobotError
from humanoid_control_common.memory_file import (
    FOLDER,
    boot_id,
    create_memory,
    open_own,
    process_lives,
    process_start,
)
from humanoid_control_common.robot.robot_namespace import ROOT
from humanoid_control_common.tick_records.record_layout import EVENT_SLOTS, LAYOUT, RecordFacts
from humanoid_control_common.tick_records.record_names import (
    OF_ALL_DOMAINS,
    files_of_robot,
    oldest_first,
    record_name,
)
from humanoid_control_common.tick_records.record_types import EVENT_TYPE, Records, tick_type

LEAST: Final = 5.0  # [s] of ticks; a shorter record is of no use
LEFT: Final = 3  # files of killed processes that are kept, of all domains


class RecordFile:
    """The rings of one control process, shared by its writer and its readers."""

    def __init__(self, path: Path, facts: RecordFacts, memory: mmap.mmap) -> None:
        self.path = path
        self.facts = facts
        self.memory = memory
        self.words = LAYOUT.header(memory)
        at = LAYOUT.data_at(len(facts.to_bytes()))
        kind = tick_type(facts)
        self.ticks_at = at
        self.ticks: Records = np.frombuffer(memory, kind, facts.tick_slots, at)
        at += self.ticks.nbytes
        self.loop_events: Records = np.frombuffer(memory, EVENT_TYPE, EVENT_SLOTS, at)
        at += self.loop_events.nbytes
        self.ros_events: Records = np.frombuffer(memory, EVENT_TYPE, EVENT_SLOTS, at)

    def begin(self) -> None:
        """Write the facts into empty memory."""
        LAYOUT.begin(self.memory, self.facts.to_bytes())

    def writer_lives(self) -> bool:
        """Return whether the control process exists, running or stopped."""
        return process_lives(self.facts.pid, self.facts.process_start, self.facts.boot_id)

    def remove(self) -> None:
        """Remove the file; readers that have it open are not affected."""
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class Writer:
    """The identity of the process that writes a record."""

    pid: int
    process_start: int  # [clock ticks since boot]
    boot_id: str


class RecordStore:
    """The records of the control processes of this machine: files in `folder`."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder = folder

    def writer(self) -> Writer:
        """Return the identity of this process."""
        pid = os.getpid()
        return Writer(pid, process_start(pid), boot_id())

    def create(self, facts: RecordFacts) -> RecordFile:
        """Return a new record of this process. Raises OSError if there is no room."""
        return create(facts, self.folder)

    def files(self, namespace: str = ROOT) -> list[Path]:
        """Return the records of one robot's control processes, oldest first."""
        return files_of_robot(self.folder, namespace)

    def attach(self, path: Path) -> RecordFile:
        """Open a record. Raises what `attach` raises."""
        return attach(path)


def create(facts: RecordFacts, folder: Path = FOLDER) -> RecordFile:
    """Create a file for this process, all of it in memory, so that writes cannot fail.

    It holds fewer seconds if memory is short. Removes files of killed processes except the latest.

    Raises OSError if there is no room.
    """
    _remove_old(folder)
    usual = folder / record_name(facts.pid, facts.namespace)
    status = os.statvfs(folder)
    room = status.f_bavail * status.f_frsize // 2  # other programs need memory, too
    while size_of_record(facts) > room:
        facts = replace(facts, seconds=facts.seconds / 2)
        if facts.seconds < LEAST:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(usual))
    usual.unlink(missing_ok=True)  # of an earlier process with this pid
    memory = create_memory(usual, size_of_record(facts))
    file = RecordFile(usual, facts, memory)
    file.begin()
    return file


def attach(path: Path) -> RecordFile:
    """Open the file of another process.

    Raises OSError, and RobotError for a file that is no record, not complete or another user's.
    """
    descriptor = open_own(path)
    try:
        memory, data = LAYOUT.read(path, descriptor)
    finally:
        os.close(descriptor)
    facts = RecordFacts.from_bytes(data)
    if size_of_record(facts) != len(memory):
        raise RobotError(f"{path} has {len(memory)} bytes, expected {size_of_record(facts)}")
    return RecordFile(path, facts, memory)


def size_of_record(facts: RecordFacts) -> int:
    """Return the size of a record of `facts` [bytes]."""
    rings = facts.tick_slots * facts.tick_size + 2 * EVENT_SLOTS * EVENT_TYPE.itemsize
    return LAYOUT.data_at(len(facts.to_bytes())) + rings


def _left_behind(folder: Path) -> Iterator[RecordFile]:
    for path in oldest_first(folder, OF_ALL_DOMAINS):
        with suppress(OSError, RobotError):
            file = attach(path)
            if not file.writer_lives():
                yield file


def _remove_old(folder: Path) -> None:
    for file in list(_left_behind(folder))[:-LEFT]:
        file.remove()
