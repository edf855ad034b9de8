"""Runs every test: those that can share the machine, side by side, then those in wall time.

The latter run real processes: some beside others of their kind, the rest alone. What fails there is
tried once more, alone, and said so, as a machine that was held up for a tenth of a second makes
drives fail, and their tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

FAILED, NOTHING_SELECTED = 1, 5  # pytest's exit codes
PURE = "not soak and not alone and not programs"
PROGRAMS = "not soak and programs"
ALONE = "not soak and alone"
WALL_TIME = "not soak and (alone or programs)"
SLOWEST = ("--durations", "15", "--durations-min", "5")
UNIT, INTEGRATION = "--unit", "--integration"  # only one of the two halves


def main(arguments: Sequence[str]) -> int:
    """Both halves, whatever the first one finds. Returns the worse exit code."""
    only = {word for word in arguments if word in (UNIT, INTEGRATION)}
    words = [word for word in arguments if word not in only]
    codes = []
    if only != {INTEGRATION}:
        codes.append(_side_by_side(PURE, words))
    if only != {UNIT}:
        codes.append(_in_wall_time(words))
    return _worst(codes)


def _side_by_side(marks: str, words: Sequence[str]) -> int:
    workers = str(min(os.cpu_count() or 1, 8))
    return _run(["-n", workers, "--dist", "worksteal", "-m", marks, *words])


def _in_wall_time(words: Sequence[str]) -> int:
    slow = [*SLOWEST, *words]
    codes = [_side_by_side(PROGRAMS, slow), _run(["-m", ALONE, *slow])]
    if _worst(codes) == FAILED:
        sys.stdout.write("\nonce more, what failed of the tests in wall time:\n")
        sys.stdout.flush()
        return _run(["-m", WALL_TIME, "--last-failed", *words])
    return _worst(codes)


def _worst(codes: Sequence[int]) -> int:
    ran = [code for code in codes if code != NOTHING_SELECTED]
    return max(ran, default=NOTHING_SELECTED)


def _run(words: Sequence[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *words], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
