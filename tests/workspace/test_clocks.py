"""The code of the control process uses time, waits and threads of its Machine only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = (
    *sorted(ROOT.glob("src/humanoid_devices/*/humanoid_devices_*")),
    ROOT / "src/humanoid_controllers/humanoid_controllers",
    ROOT / "src/humanoid_bringup_prime/humanoid_bringup_prime",
)


def found_in(source: str) -> Iterator[str]:
    """Yield uses of a clock or a thread of this computer, with their lines."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import(names=names) if any(it.name == "time" for it in names):
                yield f"{node.lineno}: import time"
            case ast.ImportFrom(module="time"):
                yield f"{node.lineno}: from time import"
            case ast.Attribute(value=ast.Name(id="threading"), attr="Thread" | "Timer" as name):
                yield f"{node.lineno}: threading.{name}"


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_no_module_has_a_clock_or_a_thread_of_its_own(package: Path) -> None:
    files = sorted(package.rglob("*.py"))
    assert files
    found = [f"{file}:{use}" for file in files for use in found_in(file.read_text())]
    assert found == []


@pytest.mark.parametrize(
    "source",
    ["import time", "from time import sleep", "import threading\nthreading.Thread(target=print)"],
)
def test_a_clock_and_a_thread_are_found(source: str) -> None:
    assert list(found_in(source))
