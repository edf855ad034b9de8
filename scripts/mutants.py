"""Breaks the stack in the places listed in tests/mutants.toml; the tests named there must notice.

Each mutant is one exact piece of source and what stands in its place. It is applied to a copy of
the sources; the tests of its area have to pass without it, and fail with it. Red if a mutant
survives, if a piece is not found exactly once, or if tests fail for another reason than a failed
test. Words: parts of file names, only their mutants are tried.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
LIST: Final = ROOT / "tests" / "mutants.toml"
COPIED: Final = (
    "src",
    "docs",
    "faults",
    "tests",
    "scripts",
    "benchmarks",
    "conftest.py",
    "pyproject.toml",
)
LEFT_OUT: Final = ("__pycache__", "*.egg-info", "external", "node_modules")
TIMEOUT: Final = 300.0  # [s] for the tests of one mutant; one that hangs them is noticed, too
PASSED, FAILED = 0, 1  # pytest's exit codes
HUNG: Final = -1000


@dataclass(frozen=True)
class Mutant:
    """One change of a file, and the tests that must fail because of it."""

    file: str
    found: str
    put: str
    tests: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.file}: {_line(self.found)}  ->  {_line(self.put)}"


def _line(text: str) -> str:
    return " / ".join(line.strip() for line in text.strip().splitlines()) or "(nothing)"


def read(path: Path) -> list[Mutant]:
    """The list. Raises KeyError or ValueError for a row that is not [found, put]."""
    areas: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["area"]
    return [
        Mutant(area["file"], found, put, tuple(area["tests"]))
        for area in areas
        for found, put in area["mutants"]
    ]


def flaws(mutants: Sequence[Mutant], root: Path) -> list[str]:
    """What is wrong with the list itself, in words."""
    problems = []
    for mutant in mutants:
        file = root / mutant.file
        count = file.read_text(encoding="utf-8").count(mutant.found) if file.is_file() else 0
        if count != 1:
            problems.append(f"found {count} times, expected once: {mutant}")
        if mutant.found == mutant.put:
            problems.append(f"changes nothing: {mutant}")
    twice = {mutant for mutant in mutants if list(mutants).count(mutant) > 1}
    return problems + [f"listed twice: {mutant}" for mutant in twice]


class Copy:
    """The sources once more, where they can be broken."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = folder
        for name in COPIED:
            if (root / name).is_dir():
                ignored = shutil.ignore_patterns(*LEFT_OUT)
                shutil.copytree(root / name, folder / name, symlinks=True, ignore=ignored)
            elif (root / name).exists():
                shutil.copy(root / name, folder / name)
        packages = [str(file.parent) for file in sorted(folder.glob("src/**/setup.py"))]
        before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        self._environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([*packages, str(folder), *filter(None, before)]),
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def test(self, tests: Iterable[str]) -> tuple[int, str]:
        """Pytest's exit code, and the end of what it says."""
        words = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider"]
        try:
            done = subprocess.run(
                [*words, *tests], cwd=self._root, env=self._environment, timeout=TIMEOUT,
                check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return HUNG, f"no end within {TIMEOUT:g} s"
        return done.returncode, done.stdout[-2000:]

    def try_out(self, mutant: Mutant) -> str:
        """Why `mutant` was not noticed; empty if a test failed because of it."""
        file = self._root / mutant.file
        text = file.read_text(encoding="utf-8")
        file.write_text(text.replace(mutant.found, mutant.put), encoding="utf-8")
        try:
            code, said = self.test(mutant.tests)
        finally:
            file.write_text(text, encoding="utf-8")
        if code in (FAILED, HUNG):
            return ""
        return "survived" if code == PASSED else f"pytest ended with {code}:\n{said}"


def main(words: Sequence[str], root: Path = ROOT, path: Path = LIST) -> int:
    """All of the list, or those whose file has one of `words` in its path. The exit code."""
    mutants = [m for m in read(path) if not words or any(word in m.file for word in words)]
    problems = flaws(mutants, root)
    for problem in problems:
        print(f"mutants: {problem}")
    if problems or not mutants:
        print(f"mutants: RED: {len(problems)} flaws in a list of {len(mutants)}")
        return 1
    with tempfile.TemporaryDirectory(prefix="mutants_") as folder:
        return _run(mutants, root, Path(folder))


def _run(mutants: Sequence[Mutant], root: Path, folder: Path) -> int:
    copies: SimpleQueue[Copy] = SimpleQueue()
    workers = os.cpu_count() or 1
    for number in range(workers):
        copies.put(Copy(root, folder / str(number)))

    def unbroken(tests: tuple[str, ...]) -> str:
        copy = copies.get()
        code, said = copy.test(tests)
        copies.put(copy)
        return "" if code == PASSED else f"fail without a mutant: {' '.join(tests)}\n{said}"

    def tried(mutant: Mutant) -> str:
        copy = copies.get()
        problem = copy.try_out(mutant)
        copies.put(copy)
        print(f"{'NOT KILLED' if problem else 'killed'}: {mutant}", flush=True)
        return problem and f"{mutant}: {problem}"

    with ThreadPoolExecutor(workers) as pool:
        broken = [
            said for said in pool.map(unbroken, dict.fromkeys(m.tests for m in mutants)) if said
        ]
        if broken:
            print("\n".join(broken))
            print("mutants: RED: the tests have to pass without a mutant")
            return 1
        left = [said for said in pool.map(tried, mutants) if said]
    for problem in left:
        print(problem)
    killed = len(mutants) - len(left)
    print(f"mutants: {'RED' if left else 'green'}: {killed} of {len(mutants)} killed")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
