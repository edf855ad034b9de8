"""Check the types of shared test code: every conftest.py and every module beside the tests.

The path of a file is its module name (`src.humanoid_twin.test.conftest`), because many files have
the same name. mypy's own list (pyproject.toml) has the root's conftest.py and the fault campaign.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def shared_modules() -> list[str]:
    """Return the modules that tests share."""
    files = {*ROOT.glob("src/**/test/**/*.py"), *ROOT.glob("src/**/conftest.py")}
    files |= {*ROOT.glob("tests/*/conftest.py")}
    names = (file.relative_to(ROOT) for file in files if not file.name.startswith("test_"))
    return sorted(".".join(it.with_suffix("").parts) for it in names if "external" not in it.parts)


def main() -> int:
    """Run mypy; return its exit code."""
    named = [word for name in shared_modules() for word in ("-m", name)]
    return subprocess.run([sys.executable, "-m", "mypy", *named], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
