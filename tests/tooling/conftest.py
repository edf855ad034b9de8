"""Fixtures of the tests of the tooling."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# Everything the scripts call beside Python and compilers.
PLAIN_TOOLS = ("awk", "bash", "cat", "dirname", "env", "grep", "make", "mkdir", "sh", "tr")


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A workspace that is not set up yet."""
    folder = tmp_path / "clone"
    (folder / "src").mkdir(parents=True)
    for name in ("scripts", "requirements"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Makefile", "env.sh", "colcon.meta"):
        shutil.copy(ROOT / name, folder)
    return folder


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A folder that is the whole PATH: standard tools, no Python, no compiler."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in PLAIN_TOOLS:
        found = shutil.which(name)
        assert found, f"{name} is needed by the tests"
        (folder / name).symlink_to(found)
    return folder


@pytest.fixture
def outside(tools: Path, tmp_path: Path) -> dict[str, str]:
    """The environment of a shell without the workspace, with `tools` as PATH."""
    return {"PATH": str(tools), "HOME": str(tmp_path), "LANG": "C.UTF-8"}


@pytest.fixture
def add_tool(tools: Path) -> Callable[[str, str], Path]:
    """Writes a shell script into `tools`."""

    def add(name: str, text: str) -> Path:
        file = tools / name
        file.write_text(f"#!/bin/sh\n{text}\n")
        file.chmod(0o755)
        return file

    return add


@pytest.fixture
def real_python(tools: Path) -> Path:
    """Link the Python on which this environment is based as python3 in `tools`."""
    python = tools / "python3"
    python.symlink_to(os.path.realpath(sys._base_executable))  # type: ignore[attr-defined]
    return python
