"""The black box: monitors every control process of a robot and writes files."""

import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from humanoid_control_common.errors import RobotError
from humanoid_control_common.robot.robot_namespace import ROOT, in_words
from humanoid_control_common.rules.diagnosis import Diagnosis, DiagnosisLevel
from humanoid_control_common.rules.reasons import Reason
from humanoid_control_common.tick_records.record_file import (
    RecordFile,
    RecordStore,
)
from humanoid_control_common.tick_records.record_layout import Word
from humanoid_recording.black_box.messages import BagMessage
from humanoid_recording.black_box.record_monitor import RecordMonitor
from humanoid_recording.black_box.store import Store
from humanoid_recording.black_box.tick_records import read_tick_records
from humanoid_recording.crash_safe_file import BagError
from humanoid_recording.reason_codes import NO_FILE, SAVED_ON_REQUEST

SEARCH_PERIOD: Final = 0.5  # [s] between two searches for new control processes
MOST_RECEIVED: Final = 4096  # messages of other processes that are kept: more than a minute
MOST_BYTES: Final = 32_000_000  # of them: any program may publish diagnostics, of any size

logger = logging.getLogger(__name__)

_ON_REQUEST: Final = Reason.of(SAVED_ON_REQUEST, "saved on request")


class BlackBox:
    """For one thread.

    Args:
        store: where its files are.
        records: those of the control processes.
        clock: monotonic time [s].
        namespace: of the robot.
    """

    def __init__(
        self,
        store: Store,
        records: RecordStore,
        clock: Callable[[], float],
        namespace: str = ROOT,
    ) -> None:
        self._received: deque[BagMessage] = deque()
        self._received_bytes = 0
        self._store = store
        self._records = records
        self._namespace = namespace
        self._clock = clock
        self._monitors: dict[Path, RecordMonitor] = {}
        self._search_at = clock()
        self._problem = ""  # why the last file could not be written, if so
        self._latest: Path | None = None

    @property
    def watching(self) -> bool:
        """True if there is a control process, or something of one left to save."""
        return bool(self._monitors)

    def receive(self, message: BagMessage) -> None:
        """Keep a message of another process, for the next files; drop the oldest beyond bounds."""
        self._received.append(message)
        self._received_bytes += len(message.data)
        while len(self._received) > MOST_RECEIVED or self._received_bytes > MOST_BYTES:
            self._received_bytes -= len(self._received.popleft().data)

    def check(self) -> None:
        """Write the files that are due. To be called about ten times a second."""
        now = self._clock()
        if now >= self._search_at:
            self._search_at = now + SEARCH_PERIOD
            self._search()
        for path, monitor in list(self._monitors.items()):
            self._serve(monitor)
            if monitor.over:
                del self._monitors[path]

    def finish(self) -> None:
        """Write now what is still to be saved."""
        for monitor in self._monitors.values():
            self._serve(monitor, last=True)

    def save(self) -> Path:
        """Write a file now. Return its path. Raises RobotError if there is nothing, or no room."""
        self._search()
        for monitor in reversed(self._monitors.values()):
            if monitor.file.words[Word.TICKS]:
                return self._write(monitor.file, [_ON_REQUEST], None)
        raise RobotError(
            f"no control process runs on {in_words('this ROS domain', self._namespace)} and this "
            "machine: nothing to save"
        )

    def diagnosis(self) -> Diagnosis:
        """Return the state of the black box."""
        pids = [str(monitor.file.facts.pid) for monitor in self._monitors.values()]
        seconds = [f"{monitor.file.facts.seconds:g}" for monitor in self._monitors.values()]
        values = {
            "control process": ", ".join(pids) or "none",
            "kept [s]": ", ".join(seconds) or "nothing",
            "folder": str(self._store.folder),
            "files": str(len(self._store.files())),
            "latest": self._latest.name if self._latest else "none since the start",
        }
        level = DiagnosisLevel.WARN if self._problem else DiagnosisLevel.OK
        message = self._problem or ("recording" if pids else "waiting for a control process")
        codes = (NO_FILE.name,) if self._problem else ()
        return Diagnosis("black box", level, message, values, codes=codes)

    def _search(self) -> None:
        for path in self._records.files(self._namespace):
            if path not in self._monitors:
                # The file may be removed again, or not be complete yet.
                with suppress(OSError, RobotError):
                    self._monitors[path] = RecordMonitor(self._records.attach(path), self._clock)

    def _serve(self, monitor: RecordMonitor, *, last: bool = False) -> None:
        due = monitor.check(last=last)
        if due is None:
            return
        try:
            self._write(monitor.file, due.reasons, due.fault)
        except BagError:
            monitor.failed()  # the records stay, for another try
        else:
            monitor.saved(due)

    def _write(self, file: RecordFile, reasons: Sequence[Reason], fault: int | None) -> Path:
        records = read_tick_records(file)
        try:
            path = self._store.keep(records, reasons, self._received, fault)
        except BagError as error:
            if not self._problem:
                logger.warning("no file of the black box: %s", error)
            self._problem = f"no file: {error}"
            raise
        self._problem = ""
        self._latest = path
        logger.warning("saved %s: %s", path, "; ".join(it.text for it in reasons))
        return path
