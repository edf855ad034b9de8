"""Read the files of the black box during the campaign, compare them with the faults, remove them.

A black box makes at most one file in 10 s, and each holds a minute. So a file covers several
faults, and comes some time after them. Each fault makes a claim; the file that covers the fault
settles it.
"""

from __future__ import annotations

import shutil
import subprocess
import time
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

from fault_campaign.judging.black_box_check import Expected, FileCoverage, kept
from fault_campaign.judging.fault_files import Flight, from_json
from fault_campaign.programs import WITH_US, module
from humanoid_recording.black_box.store import Store

LATEST: Final = 45.0  # [s] 2 s after the fault, twice 10 s where a disk was full, a start, and room
_HOUR: Final = 3600.0  # [s] by which a fault steps clocks
_TIMEOUT: Final = 60.0  # [s] limit of the time to read a file
_GENTLY: Final = (*WITH_US, "nice", "-n", "19", *module("judging.fault_files"))


@dataclass(slots=True)
class Claim:
    """The claim of a fault that a file must cover."""

    expected: Expected
    deadline: float  # [s] monotonic
    found: FileCoverage | None = None
    wrong: list[str] = field(default_factory=list)

    @property
    def settled(self) -> bool:
        """True once a file covers the fault, or no file can cover it any more."""
        return self.found is not None or bool(self.wrong)


class Archive:
    """Reads `folder` while the context is open; its end settles the open claims."""

    def __init__(self, folder: Path) -> None:
        self._store = Store(folder)
        self._reader = ThreadPoolExecutor(max_workers=1, thread_name_prefix="archive")
        self._read: dict[Path, Future[Flight]] = {}
        self._open: list[Claim] = []
        self._problems: list[str] = []  # of files; not reported yet
        self._count = 0  # of files

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._collect()
        self._reader.shutdown()
        self._judge()
        for claim in self._open:
            self._fail(claim)

    def claim(self, expected: Expected) -> Claim:
        """Search the later files for a fault."""
        claim = Claim(expected, time.monotonic() + LATEST)
        self._open.append(claim)
        return claim

    def look(self) -> None:
        """Settle the claims that can be settled now; do not wait."""
        self._collect()
        self._judge()
        if not self._read:
            for claim in self._open:
                if time.monotonic() > claim.deadline:
                    self._fail(claim)
        self._open = [claim for claim in self._open if not claim.settled]

    def _collect(self) -> None:
        for path in reversed(self._store.files()):
            if path not in self._read:
                self._read[path] = self._reader.submit(_read, path)

    def _judge(self) -> None:
        for path, future in list(self._read.items()):
            if not future.done():
                continue
            del self._read[path]
            self._count += 1
            flight = future.result()
            if flight.problem:
                self._problems.append(f"{path.name} can't be read: {flight.problem}")
            for claim in self._open:
                self._hold(claim, flight)
            self._open = [claim for claim in self._open if not claim.settled]

    def _hold(self, claim: Claim, flight: Flight) -> None:
        claim.found = kept(flight, claim.expected)
        if claim.found is not None:
            claim.wrong += claim.found.missing
        if claim.settled:
            claim.wrong += self._problems
            self._problems.clear()

    def _fail(self, claim: Claim) -> None:
        seen = f"no file of the black box tells of it, of {self._count} so far"
        claim.wrong += [seen, *self._problems]
        self._problems.clear()


def _read(path: Path) -> Flight:
    """Read the file and remove it."""
    try:
        output = subprocess.run(
            [*_GENTLY, str(path)], stdout=subprocess.PIPE, timeout=_TIMEOUT, check=True, text=True
        ).stdout
    except subprocess.SubprocessError as error:
        return Flight(0.0, 0.0, (), (), (), str(error))
    finally:
        shutil.rmtree(path, ignore_errors=True)
    return _on_our_clock(from_json(output))


def _on_our_clock(flight: Flight) -> Flight:
    """Move the times of a file to the machine's clock if its last tick had a stepped clock."""
    off = round((time.time() - flight.end) / _HOUR) * _HOUR
    return replace(
        flight,
        begin=flight.begin + off,
        end=flight.end + off,
        alarms=tuple((at + off, text, codes) for at, text, codes in flight.alarms),
        gaps=tuple((at + off, length) for at, length in flight.gaps),
    )
