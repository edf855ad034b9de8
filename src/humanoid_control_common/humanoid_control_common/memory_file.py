"""Files in memory that several processes of one user map.

Each begins with numbers of 8 bytes; the first three are those of `HeaderWord`. Constant facts about
the writer follow them, then the data.
"""

import mmap
import os
import stat
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Final

from humanoid_control_common.errors import RobotError

FOLDER: Final = Path("/dev/shm")  # memory; files survive processes, not a restart
_ALIGNMENT: Final = 64  # [bytes] of the data: a cache line


class HeaderWord(IntEnum):
    """Numbers at the beginning of each file."""

    MAGIC = 0
    VERSION = 1
    FACTS_SIZE = 2  # [bytes]


@dataclass(frozen=True, slots=True)
class Layout:
    """One kind of such files."""

    content: str  # in messages: "tick records"
    magic: bytes  # 8 bytes, at the beginning of the file
    version: int
    words: int  # at the beginning of the file, of 8 bytes

    def begin(self, memory: mmap.mmap, facts: bytes) -> None:
        """Write header and facts into empty memory, the magic number as the last of them."""
        memory[self.words * 8 : self.words * 8 + len(facts)] = facts
        words = self.header(memory)
        words[HeaderWord.VERSION] = self.version
        words[HeaderWord.FACTS_SIZE] = len(facts)
        words[HeaderWord.MAGIC] = int.from_bytes(self.magic, "little")  # readers may read it now

    def header(self, memory: mmap.mmap) -> memoryview:
        """Return the numbers at the beginning."""
        return memoryview(memory)[: self.words * 8].cast("Q")

    def data_at(self, facts_size: int) -> int:
        """Return where the data begin behind so many bytes of facts [bytes]."""
        return -(-(self.words * 8 + facts_size) // _ALIGNMENT) * _ALIGNMENT

    def read(self, path: Path, descriptor: int) -> tuple[mmap.mmap, bytes]:
        """Map an open file of `path`; return its memory and the facts.

        Raises OSError, and RobotError for another content, a file that is not complete and another
        version.
        """
        size = os.fstat(descriptor).st_size
        if size < self.words * 8:
            raise RobotError(f"{path} is no file of {self.content}")
        memory = mmap.mmap(descriptor, size)
        words = self.header(memory)
        if words[HeaderWord.MAGIC] != int.from_bytes(self.magic, "little"):
            raise RobotError(f"{path} is no file of {self.content}, or not one yet")
        if words[HeaderWord.VERSION] != self.version:
            raise RobotError(f"{path} has {self.content} of another version of this program")
        return memory, memory[self.words * 8 : self.words * 8 + words[HeaderWord.FACTS_SIZE]]


def create_memory(path: Path, size: int) -> mmap.mmap:
    """Create a file of `size` bytes, all of it in memory, so that writes cannot fail.

    Raises OSError; it leaves no file then.
    """
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        os.posix_fallocate(descriptor, 0, size)
        return mmap.mmap(descriptor, size, mmap.MAP_SHARED | mmap.MAP_POPULATE)
    except OSError:
        path.unlink()
        raise
    finally:
        os.close(descriptor)


def open_own(path: Path) -> int:
    """Return a descriptor of this user's file. Raises OSError, and RobotError for any other."""
    descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    status = os.fstat(descriptor)
    if status.st_uid != os.getuid() or not stat.S_ISREG(status.st_mode):
        os.close(descriptor)
        raise RobotError(f"{path} is not this user's")
    return descriptor


def process_start(pid: int) -> int:
    """Return when process `pid` started [clock ticks since boot]; 0 if it does not exist."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    fields = text.rpartition(")")[2].split()  # the name before may contain anything
    return 0 if fields[0] in "ZX" else int(fields[19])


def boot_id() -> str:
    """Return the identity of this boot of the machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()


def process_lives(pid: int, start: int, boot: str) -> bool:
    """Return whether the process that started at `start` in the boot `boot` exists.

    See `process_start` and `boot_id`.
    """
    return boot_id() == boot and process_start(pid) == start
