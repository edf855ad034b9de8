"""The black box: every control process of this ROS domain watched, and a file when one is due."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from humanoid_control_common.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_control_common.errors import RobotError
from humanoid_control_common.flight_file import FOLDER, FlightFile, attach, files_of_domain
from humanoid_control_common.flight_layout import Word
from humanoid_recording.black_box.export import write_flight
from humanoid_recording.black_box.flight import read_flight
from humanoid_recording.black_box.messages import Said
from humanoid_recording.black_box.store import Store
from humanoid_recording.black_box.watch import Watch
from humanoid_recording.whole_writes import BagError

SEARCH_PERIOD: Final = 0.5  # [s] between two looks for control processes that have come
MOST_HEARD: Final = 4096  # messages of others that are kept: a minute of them, and more

logger = logging.getLogger(__name__)


class Box:
    """Used by one thread. `memory` is where flight records are."""

    def __init__(
        self, store: Store, memory: Path = FOLDER, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.heard: deque[Said] = deque(maxlen=MOST_HEARD)
        self._store = store
        self._memory = memory
        self._clock = clock
        self._watches: dict[Path, Watch] = {}
        self._search_at = clock()
        self._problem = ""  # why a file could not be made, if the last one couldn't
        self._latest: Path | None = None

    @property
    def watching(self) -> bool:
        """Whether there is a control process to watch, or something of one left to save."""
        return bool(self._watches)

    def look(self) -> None:
        """To be called about ten times a second."""
        now = self._clock()
        if now >= self._search_at:
            self._search_at = now + SEARCH_PERIOD
            self._search()
        for path, watch in list(self._watches.items()):
            self._serve(watch)
            if watch.over:
                del self._watches[path]

    def finish(self) -> None:
        """The last look: what is to be saved is saved now."""
        for watch in self._watches.values():
            self._serve(watch, last=True)

    def save(self) -> Path:
        """Make a file of the present now. Raises RobotError if there is nothing, or no room."""
        self._search()
        for watch in reversed(self._watches.values()):
            if watch.file.words[Word.TICKS]:
                return self._write(watch.file, ["saved on request"], None)
        raise RobotError("no control process runs on this ROS domain and machine: nothing to save")

    def diagnosis(self) -> Diagnosis:
        """How the black box is doing."""
        watched = [str(watch.file.facts.pid) for watch in self._watches.values()]
        seconds = [f"{watch.file.facts.seconds:g}" for watch in self._watches.values()]
        values = {
            "control process": ", ".join(watched) or "none",
            "kept [s]": ", ".join(seconds) or "nothing",
            "folder": str(self._store.folder),
            "files": str(len(self._store.files())),
            "latest": self._latest.name if self._latest else "none since the start",
        }
        level = DiagnosisLevel.WARN if self._problem else DiagnosisLevel.OK
        message = self._problem or ("recording" if watched else "waiting for a control process")
        return Diagnosis("black box", level, message, values)

    def _search(self) -> None:
        for path in files_of_domain(self._memory):
            if path not in self._watches:
                # It may be gone again, or not be complete yet.
                with suppress(OSError, RobotError):
                    self._watches[path] = Watch(attach(path), self._clock)

    def _serve(self, watch: Watch, *, last: bool = False) -> None:
        due = watch.look(last=last)
        if due is None:
            return
        try:
            self._write(watch.file, due.reasons, due.fault)
        except BagError:
            watch.failed()  # the memory stays as it is, and is tried again
        else:
            watch.saved(due)

    def _write(self, file: FlightFile, reasons: Sequence[str], fault: int | None) -> Path:
        flight = read_flight(file)
        try:
            path = self._store.add(
                lambda folder, name: write_flight(
                    folder, name, flight, reasons, self.heard, fault=fault
                )
            )
        except BagError as error:
            if not self._problem:
                logger.warning("no file of the black box: %s", error)
            self._problem = f"no file: {error}"
            raise
        self._problem = ""
        self._latest = path
        logger.warning("saved %s: %s", path, "; ".join(reasons))
        return path
