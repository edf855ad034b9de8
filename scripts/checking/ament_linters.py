"""Run ament's linters over src/ if they are installed: with ROS 2, or from bar.repos.

The workspace's own linters are stricter; these are for users of ament's.
docs/build.md lists what is checked in another way. HUMANOID_REQUIRE_AMENT_LINT=1 makes
it an error that they are not installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REQUIRED = "HUMANOID_REQUIRE_AMENT_LINT"
PATHS = [f"src/{folder.name}" for folder in sorted((ROOT / "src").iterdir()) if folder.is_dir()]
OURS = [path for path in PATHS if path != "src/external"]
# Google's convention, as in pyproject.toml; which functions need a docstring, ruff decides.
UNDOCUMENTED = ["D100", "D101", "D102", "D103", "D104", "D105", "D106", "D107"]

LINTERS = (
    ["ament_flake8", "--config", "ament_flake8.ini", *OURS],
    ["ament_pep257", "--convention", "google", "--add-ignore", *UNDOCUMENTED, "--", *OURS],
    ["ament_lint_cmake", *OURS],
    ["ament_xmllint", *OURS],
)

PROGRAMS = {"ament_xmllint": "xmllint"}  # what a linter runs: of another package (libxml2-utils)


def main(linters: Sequence[Sequence[str]] = LINTERS) -> int:
    """Return exit code 0 if no linter finds fault and none is missing that is required."""
    missing = [words[0] for words in linters if not _is_installed(words[0])]
    if missing:
        print(f"ament linters: not installed and not run: {', '.join(missing)}")
    failed = [words[0] for words in linters if words[0] not in missing and not _passes(words)]
    if failed:
        print(f"ament linters: error: {', '.join(failed)} found fault", file=sys.stderr)
    required = os.environ.get(REQUIRED) == "1"
    return 1 if failed or (missing and required) else 0


def _is_installed(linter: str) -> bool:
    return all(shutil.which(it) for it in (linter, PROGRAMS.get(linter, linter)))


def _passes(words: Sequence[str]) -> bool:
    result = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        print(result.stdout, result.stderr, sep="\n")
    return result.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
