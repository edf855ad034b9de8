"""The file that joins the control process and the server of the joint stream: shared memory."""

import fcntl
import mmap
import os
import stat
from enum import IntEnum
from pathlib import Path
from typing import Final

from humanoid_control_common.errors import RobotError
from humanoid_control_common.memory_file import FOLDER, boot_id, process_start
from humanoid_control_common.robot.robot_namespace import ROOT, file_mark
from humanoid_control_common.robot.ros_domain import own_domain
from humanoid_joint_stream.facts import StreamFacts
from humanoid_joint_stream.shared.records import REPORT_SIZE, Report, SentCommand
from humanoid_joint_stream.shared.slot import Slot

MAGIC: Final = int.from_bytes(b"HCSTREAM", "little")
VERSION: Final = 1
WORDS: Final = 16  # of 8 bytes, at the beginning of the file


class Word(IntEnum):
    """Numbers at the beginning of the file; each has one writer."""

    MAGIC = 0  # by the control process, as the last of its three
    VERSION = 1
    FACTS_SIZE = 2  # [bytes]
    HEARTBEAT = 3  # by the server: [ns] of the robot's clock
    ACTIVATION = 4  # by the server: the one in force; 0: none
    CLEARED = 5  # by the server: the latest fault that is cleared


class StreamFile:
    """Both slots and the words, in `memory`."""

    def __init__(self, memory: mmap.mmap, facts: StreamFacts) -> None:
        view = memoryview(memory)
        self.memory = memory
        self.facts = facts
        self.words = view[: WORDS * 8].cast("Q")
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
        """Return one that no other process can reach."""
        file = cls(mmap.mmap(-1, cls.size(facts)), facts)
        file.begin()
        return file

    def begin(self) -> None:
        """Write the facts into empty memory."""
        data = self.facts.to_bytes()
        self.memory[WORDS * 8 : WORDS * 8 + len(data)] = data
        self.words[Word.VERSION] = VERSION
        self.words[Word.FACTS_SIZE] = len(data)
        self.words[Word.MAGIC] = MAGIC

    def writer_lives(self) -> bool:
        """Return whether the control process exists."""
        facts = self.facts
        return boot_id() == facts.boot_id and process_start(facts.pid) == facts.process_start

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
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(own, flags, 0o600)
    try:
        size = StreamFile.size(facts)
        os.posix_fallocate(descriptor, 0, size)
        file = StreamFile(mmap.mmap(descriptor, size), facts)
        file.begin()
        own.rename(path)
    except OSError:
        own.unlink(missing_ok=True)
        raise
    finally:
        os.close(descriptor)
    return file


def attach(path: Path) -> tuple[StreamFile, int]:
    """Open the file as its server. Return it with the descriptor whose lock keeps others away.

    Raises OSError, BlockingIOError if another server has it, and RobotError for a file that is not
    this user's, no such file, or of another version.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        status = os.fstat(descriptor)
        if status.st_uid != os.getuid() or not stat.S_ISREG(status.st_mode):
            raise RobotError(f"{path} is not this user's")
        if status.st_size < WORDS * 8:
            raise RobotError(f"{path} is no file of a joint stream")
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        memory = mmap.mmap(descriptor, status.st_size)
        words = memoryview(memory)[: WORDS * 8].cast("Q")
        if words[Word.MAGIC] != MAGIC or words[Word.VERSION] != VERSION:
            raise RobotError(f"{path} is no file of a joint stream of this version")
        facts = StreamFacts.from_bytes(memory[WORDS * 8 : WORDS * 8 + words[Word.FACTS_SIZE]])
        if StreamFile.size(facts) != status.st_size:
            found, expected = status.st_size, StreamFile.size(facts)
            raise RobotError(f"{path} has {found} bytes, expected {expected}")
    except BaseException:
        os.close(descriptor)
        raise
    return StreamFile(memory, facts), descriptor


def release(descriptor: int) -> None:
    """Let another server open the file; the memory of `attach` stays."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)  # the memory has a copy of the descriptor
    os.close(descriptor)


def _slots_at(facts: StreamFacts) -> int:
    return (WORDS * 8 + len(facts.to_bytes()) + 63) // 64 * 64
