"""The code of the control process uses time, waits and threads of its Machine only.

No timer of any process stands still when the system's clock is set back.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = [it for it in sorted(ROOT.glob("src/**/*.py")) if not {"test", "external"} & {*it.parts}]
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


def timers_of_the_system_clock(source: str) -> Iterator[int]:
    """Yield the lines of timers that have the clock of their node."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(attr="create_timer"), keywords=keywords):
                if not any(it.arg == "clock" for it in keywords):
                    yield node.lineno


def test_no_timer_stands_still_when_the_system_clock_is_set_back() -> None:
    assert MODULES
    timers = {it: [*timers_of_the_system_clock(it.read_text())] for it in MODULES}
    assert {it: lines for it, lines in timers.items() if lines} == {}


def test_a_timer_of_the_system_clock_is_found() -> None:
    assert list(timers_of_the_system_clock("node.create_timer(1.0, print)")) == [1]
