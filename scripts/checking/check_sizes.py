"""Check the sizes of folders and modules: at most 15 modules, 400 lines.

Tests are not counted: modules in folders called `test`, and files called `test_….py`. Run it
anywhere; `make lint` does.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
CHECKED: Final = ("src", "benchmarks", "scripts", "tests")
KINDS: Final = ("*.py", "*.c")
LEFT_OUT: Final = ("test", "external", "build", "install", "log")  # names of folders
MOST_MODULES: Final = 15  # in a folder, beside __init__.py
MOST_LINES: Final = 400  # of a module


def modules(root: Path) -> list[Path]:
    """Return the modules that are checked, relative to `root`."""
    found = (
        file.relative_to(root)
        for name in CHECKED
        for kind in KINDS
        for file in (root / name).rglob(kind)
    )
    return sorted(file for file in found if not _left_out(file))


def faults(root: Path) -> list[str]:
    """Return one line for each folder and each module that is too large."""
    files = modules(root)
    counts = Counter(file.parent.as_posix() for file in files if file.name != "__init__.py")
    lines = {file: (root / file).read_text(encoding="utf-8").count("\n") for file in files}
    return [
        *(
            f"{folder}: {count} modules, expected at most {MOST_MODULES}: use sub-folders"
            for folder, count in sorted(counts.items())
            if count > MOST_MODULES
        ),
        *(
            f"{file}: {count} lines, expected at most {MOST_LINES}: one idea per module"
            for file, count in lines.items()
            if count > MOST_LINES
        ),
    ]


def main(root: Path = ROOT) -> int:
    """Print the faults. Returns exit code 0 if there are none."""
    found = faults(root)
    for fault in found:
        print(f"check: error: {fault}", file=sys.stderr)
    return 1 if found else 0


def _left_out(file: Path) -> bool:
    """Return True for tests, generated modules, and files from outside of this workspace."""
    generated = file.name.endswith("_pb2.py")
    return generated or file.name.startswith("test_") or not set(LEFT_OUT).isdisjoint(file.parts)


if __name__ == "__main__":
    sys.exit(main())
