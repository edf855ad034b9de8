"""Runs every test: first those that can share the machine, side by side, then the others.

The others run real processes in wall time: what fails there is tried once more, and said so, as a
machine that was held up for a tenth of a second makes drives fail, and their tests.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

FAILED, NOTHING_SELECTED = 1, 5  # pytest's exit codes
ALONE = ("-m", "not soak and alone")
SLOWEST = ("--durations", "15", "--durations-min", "5")
UNIT, INTEGRATION = "--unit", "--integration"  # only one of the two runs


def main(arguments: Sequence[str]) -> int:
    """Both runs, whatever the first one finds. Returns the worse exit code."""
    only = {word for word in arguments if word in (UNIT, INTEGRATION)}
    words = [word for word in arguments if word not in only]
    codes = []
    if only != {INTEGRATION}:
        codes.append(_side_by_side(words))
    if only != {UNIT}:
        codes.append(_alone(words))
    ran = [code for code in codes if code != NOTHING_SELECTED]
    return max(ran, default=NOTHING_SELECTED)


def _side_by_side(words: Sequence[str]) -> int:
    workers = str(min(os.cpu_count() or 1, 8))
    return _run(["-n", workers, "--dist", "worksteal", "-m", "not soak and not alone", *words])


def _alone(words: Sequence[str]) -> int:
    code = _run([*ALONE, *SLOWEST, *words])
    if code == FAILED:
        sys.stdout.write("\nonce more, what failed of the tests in wall time:\n")
        sys.stdout.flush()
        code = _run([*ALONE, "--last-failed", *words])
    return code


def _run(words: Sequence[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *words], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
