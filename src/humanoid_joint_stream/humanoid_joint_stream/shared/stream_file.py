"""The file that joins the control process and the server of the joint stream: shared memory."""

import fcntl
import mmap
import os
from enum import IntEnum
from pathlib import Path
from typing import Final

from humanoid_control_common.errors import RobotError
from humanoid_control_common.memory_file import (
    FOLDER,
    Layout,
    create_memory,
    open_own,
    process_lives,
)
from humanoid_control_common.robot.robot_namespace import ROOT, file_mark
from humanoid_control_common.robot.ros_domain import own_domain
from humanoid_joint_stream.facts import StreamFacts
from humanoid_joint_stream.shared.records import REPORT_SIZE, Report, SentCommand
from humanoid_joint_stream.shared.slot import Slot

LAYOUT: Final = Layout("a joint stream", b"HCSTREAM", version=1, words=16)  # words: see Word


class Word(IntEnum):
    """Numbers at the beginning of the file, after those of HeaderWord; each has one writer."""

    HEARTBEAT = 3  # by the server: [ns] of the robot's clock
    ACTIVATION = 4  # by the server: the one in force; 0: none
    CLEARED = 5  # by the server: the latest fault that is cleared
    UNLOADED = 6  # by the controller: 1 once it is unloaded


class StreamFile:
    """Both slots and the words, in `memory`."""

    def __init__(self, memory: mmap.mmap, facts: StreamFacts) -> None:
        view = memoryview(memory)
        self.memory = memory
        self.facts = facts
        self.words = LAYOUT.header(memory)
        self._report = Report()
        at = _slots_at(facts)
        size = SentCommand.size(len(facts.joints))
        self.commands = Slot(view, at, size)
        self.reports = Slot(view, at + Slot.bytes_for(size), REPORT_SIZE)

    @staticmethod
    def size(facts: StreamFacts) -> int:
        """Return the size of the file [bytes]."""
        size = SentCommand.size(len(facts.joints))
        return _slots_at(facts) + Slot.bytes_for(size) + Slot.bytes_for(REPORT_SIZE)

    @classmethod
    def in_memory(cls, facts: StreamFacts) -> "StreamFile":
        """Return one that no other process can reach; a copy of this process has its own."""
        file = cls(mmap.mmap(-1, cls.size(facts), mmap.MAP_PRIVATE), facts)
        file.begin()
        return file

    def begin(self) -> None:
        """Write the facts into empty memory."""
        LAYOUT.begin(self.memory, self.facts.to_bytes())

    def writer_lives(self) -> bool:
        """Return whether the control process exists."""
        return process_lives(self.facts.pid, self.facts.process_start, self.facts.boot_id)

    def report(self) -> Report:
        """Return the latest report that could be read whole; an empty one if there is none."""
        found = self.reports.read()
        if found is not None:
            self._report = Report.from_bytes(found[1])
        return self._report


def path_of(namespace: str = ROOT, folder: Path = FOLDER) -> Path:
    """Return the file of the robot of this ROS domain in `namespace`."""
    mark = f"domain_{own_domain()}{file_mark(namespace)}"
    return folder / f"humanoid_control_{os.getuid()}_{mark}.stream"


def create(path: Path, facts: StreamFacts) -> StreamFile:
    """Create the file, in the place of an earlier process's. Raises OSError."""
    own = path.with_suffix(f".{os.getpid()}")
    own.unlink(missing_ok=True)
    file = StreamFile(create_memory(own, StreamFile.size(facts)), facts)
    file.begin()
    try:
        own.rename(path)
    except OSError:
        own.unlink()
        raise
    return file


def attach(path: Path) -> tuple[StreamFile, int]:
    """Open the file as its server. Return it with the descriptor whose lock keeps others away.

    Raises OSError, BlockingIOError if another server has it, and RobotError for a file that is not
    this user's, no such file, or of another version.
    """
    descriptor = open_own(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        memory, data = LAYOUT.read(path, descriptor)
        facts = StreamFacts.from_bytes(data)
        if StreamFile.size(facts) != len(memory):
            raise RobotError(f"{path} has {len(memory)} bytes, expected {StreamFile.size(facts)}")
    except BaseException:
        os.close(descriptor)
        raise
    return StreamFile(memory, facts), descriptor


def release(descriptor: int) -> None:
    """Let another server open the file; the memory of `attach` stays."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)  # the memory has a copy of the descriptor
    os.close(descriptor)


def _slots_at(facts: StreamFacts) -> int:
    return LAYOUT.data_at(len(facts.to_bytes()))
