"""The folder with the files of the black box: complete files, bounded in number and size."""

import os
import shutil
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.memory_file import process_start
from humanoid_control_common.rules.reasons import Reason
from humanoid_recording.black_box.export import write_bag
from humanoid_recording.black_box.messages import BagMessage
from humanoid_recording.black_box.tick_records import TickRecords
from humanoid_recording.crash_safe_file import BagError
from humanoid_recording.summary import FILE_NAME
from humanoid_recording.writer import free_space

PREFIX: Final = "black_box_"
MOST_FILES: Final = 20
MOST_BYTES: Final = 1_000_000_000
# Kept free for the rest of the robot; `hc record` keeps more free.
ROOM: Final = 20_000_000  # bytes
_PARTIAL: Final = ".partial_"


def default_folder() -> Path:
    """Return the folder in $ROS_HOME, else ~/.ros. Raises ConfigError without a home."""
    try:
        return Path(os.environ.get("ROS_HOME") or Path.home() / ".ros") / "black_box"
    except RuntimeError:
        raise ConfigError("no place for the black box: neither HOME nor ROS_HOME is set") from None


@dataclass(frozen=True, slots=True)
class Store:
    """Files in `folder`; the oldest are removed when there are too many."""

    folder: Path
    most_files: int = MOST_FILES
    most_bytes: int = MOST_BYTES
    free: Callable[[Path], int] = free_space
    machine: Machine = LINUX

    def files(self) -> list[Path]:
        """Return the bags, latest first."""
        dated = []
        for path in self.folder.glob(f"{PREFIX}*"):
            with suppress(FileNotFoundError):  # removed meanwhile
                if (path / FILE_NAME).is_file():
                    dated.append((path.stat().st_mtime_ns, path))
        return [path for _, path in sorted(dated, reverse=True)]

    def keep(
        self,
        records: TickRecords,
        reasons: Sequence[Reason],
        received: Iterable[BagMessage],
        fault: int | None,
    ) -> Path:
        """Write a bag and keep it; see `write_bag`. Return its path. Raises BagError."""
        return self.add(
            lambda folder, name: write_bag(folder, name, records, reasons, received, fault=fault)
        )

    def add(self, write: Callable[[Path, str], object]) -> Path:
        """Call `write` with a folder and a name for a bag, and keep the bag. Return its path.

        An unfinished bag has another name. Raises BagError, and then leaves nothing of it.
        """
        name = time.strftime(
            f"{PREFIX}%Y-%m-%d_%H-%M-%S", time.localtime(self.machine.system_time_ns() / 1e9)
        )
        partial = self.folder / f"{_PARTIAL}{os.getpid()}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            shutil.rmtree(partial, ignore_errors=True)
            self._check_room()
            path = self._unused(name)
            write(partial, path.name)
            self._check_room()  # the size of the file is known now
            path = self._unused(path.name)  # one of another ROS domain may have it by now
            self._keep(partial, path)
        except OSError as error:
            raise BagError(f"{self.folder}: {error.strerror}") from error
        finally:
            shutil.rmtree(partial, ignore_errors=True)
        self._remove_oldest(path)
        return path

    def remove_unfinished(self) -> None:
        """Remove the unfinished bags of black boxes that were killed.

        Those of other ROS domains use the same folder, and may be writing now.
        """
        for partial in self.folder.glob(f"{_PARTIAL}*"):
            pid = partial.name.removeprefix(_PARTIAL)
            if not (pid.isdigit() and process_start(int(pid))):
                shutil.rmtree(partial, ignore_errors=True)

    def _check_room(self) -> None:
        free = self.free(self.folder)
        if free < ROOM:
            raise BagError(
                f"{self.folder}: only {free / 1e6:.0f} MB are left on the disk, "
                f"of which {ROOM / 1e6:.0f} MB are for other things"
            )

    def _unused(self, name: str) -> Path:
        path, number = self.folder / name, 1
        while path.exists():
            number += 1
            path = self.folder / f"{name}_{number}"
        return path

    def _keep(self, partial: Path, path: Path) -> None:
        for file in (*partial.iterdir(), partial):
            _sync(file)
        partial.rename(path)
        _sync(self.folder)

    def _remove_oldest(self, latest: Path) -> None:
        """Remove the oldest files beyond the bounds; the latest stays, whatever its time stamp."""
        kept, size = 1, _size(latest)
        for path in self.files():
            if path == latest:
                continue
            kept, size = kept + 1, size + _size(path)
            if kept > self.most_files or size > self.most_bytes:
                shutil.rmtree(path, ignore_errors=True)


def _size(path: Path) -> int:
    size = 0
    with suppress(FileNotFoundError):
        for file in path.iterdir():
            size += file.stat().st_size
    return size


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
