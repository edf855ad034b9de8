"""Runs every test: first those that can share the machine, side by side, then the others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

NOTHING_SELECTED = 5  # pytest's exit code


def main(arguments: Sequence[str]) -> int:
    """Both runs, whatever the first one finds. Returns the worse exit code."""
    workers = str(min(os.cpu_count() or 1, 8))
    codes = [
        _run(["-n", workers, "--dist", "worksteal", "-m", "not soak and not alone", *arguments]),
        _run(["-m", "not soak and alone", *arguments]),
    ]
    ran = [code for code in codes if code != NOTHING_SELECTED]
    return max(ran, default=NOTHING_SELECTED)


def _run(words: Sequence[str]) -> int:
    return subprocess.run([sys.executable, "-m", "pytest", *words], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
