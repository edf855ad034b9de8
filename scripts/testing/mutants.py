"""Change the stack in the places listed in tests/mutants.toml; the tests named there must fail.

Each mutant is one exact piece of source and its replacement. It is applied to a copy of
the sources, where changed C is compiled; its tests have to pass without it, and fail with it. The
run fails if a mutant survives, if its tests do not end and its row has no reason for that, if a
piece is not found exactly once, or if tests fail for another reason than a failed test. Arguments:
parts of file names; only the mutants of these files are tried.
"""

from __future__ import annotations

import compileall
import contextlib
import os
import py_compile
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
LIST: Final = ROOT / "tests" / "mutants.toml"
COPIED: Final = (
    "src",
    "docs",
    "tests",
    "scripts",
    "benchmarks",
    "conftest.py",
    "pyproject.toml",
)
LEFT_OUT: Final = ("__pycache__", "*.egg-info", "external", "node_modules")
LONGEST: Final = 300.0  # [s] for the tests of one mutant without it
TIMES: Final = 5.0  # limit of the time of a mutant's tests, as a multiple of their time without it
SHORTEST: Final = 6.0  # [s] taken instead of a shorter time: the machine may be busier later
PASSED, FAILED = 0, 1  # pytest's exit codes
HUNG: Final = -1000
KEYS: Final = {"found", "put", "tests", "hangs", "reason"}  # of a row that is a table


class MutantResult(Enum):
    """Result of a mutant."""

    KILLED = "killed"  # a test failed
    HUNG = "hung"  # its tests came to no end
    SURVIVED = "survived"
    BROKEN = "no program"  # pytest itself failed: nothing is known


@dataclass(frozen=True)
class Mutant:
    """One change of a file, and the tests that must fail because of it."""

    file: str
    found: str
    put: str
    tests: tuple[str, ...]
    hangs: str = ""  # why its tests do not end, which then counts as a failure

    def __str__(self) -> str:
        return f"{self.file}: {_line(self.found)}  ->  {_line(self.put)}"


@dataclass(frozen=True)
class TestedMutant:
    """End of a mutant's tests."""

    mutant: Mutant
    end: MutantResult
    output: str = ""

    @property
    def noticed(self) -> bool:
        """True if the mutant counts as killed."""
        listed = self.end is MutantResult.HUNG and bool(self.mutant.hangs)
        return self.end is MutantResult.KILLED or listed


def _line(text: str) -> str:
    return " / ".join(line.strip() for line in text.strip().splitlines()) or "(nothing)"


def read(path: Path) -> list[Mutant]:
    """Return the list. Raises ValueError for a row that is no [found, put] and no table of KEYS."""
    areas: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8"))["area"]
    return [_row(area, row) for area in areas for row in area["mutants"]]


def _row(area: Mapping[str, Any], row: Sequence[str] | Mapping[str, Any]) -> Mutant:
    if not isinstance(row, Mapping):
        found, put = row
        return Mutant(area["file"], found, put, tuple(area["tests"]))
    if set(row) - KEYS or not {"found", "put"} <= set(row):
        raise ValueError(f"{area['file']}: keys {sorted(row)}, expected some of {sorted(KEYS)}")
    if row.get("hangs", False) != bool(row.get("reason")):
        raise ValueError(f"{area['file']}: {row['found']!r}: 'hangs = true' goes with a 'reason'")
    tests = tuple(row.get("tests", area["tests"]))
    return Mutant(area["file"], row["found"], row["put"], tests, row.get("reason", ""))


def flaws(mutants: Sequence[Mutant], root: Path) -> list[str]:
    """Return the faults of the list itself."""
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


class SourceCopy:
    """The sources once more, where they can be broken."""

    def __init__(self, root: Path, folder: Path) -> None:
        self._root = folder
        for name in COPIED:
            if (root / name).is_dir():
                ignored = shutil.ignore_patterns(*LEFT_OUT)
                shutil.copytree(root / name, folder / name, symlinks=True, ignore=ignored)
            elif (root / name).exists():
                shutil.copy(root / name, folder / name)
        # Compiled once, not for every mutant. Distinguished by contents: a mutant may come within
        # the same second, and have the same size.
        by_contents = py_compile.PycInvalidationMode.CHECKED_HASH
        compileall.compile_dir(str(folder), quiet=2, invalidation_mode=by_contents)
        packages = [str(file.parent) for file in sorted(folder.glob("src/**/setup.py"))]
        before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        self._environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([*packages, str(folder), *filter(None, before)]),
        }

    def test(self, tests: Iterable[str], limit: float) -> tuple[int, str]:
        """Return pytest's exit code and the end of its output; HUNG if it takes over `limit` [s].

        No other limit ends the tests: a hung test must not look like a failed one.
        """
        words = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider"]
        with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
            process = subprocess.Popen(
                [*words, "-o", "timeout=0", *tests], cwd=self._root, env=self._environment,
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                start_new_session=True,
            )  # fmt: skip
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                code = HUNG
            except BaseException:
                _end(process)
                raise
            if code == HUNG:
                _end(process)
            output.seek(0)
            return code, output.read()[-2000:]

    def try_out(self, mutant: Mutant, limit: float) -> TestedMutant:
        """Run the tests of `mutant`, for `limit` [s] at most."""
        file = self._root / mutant.file
        text = file.read_text(encoding="utf-8")
        try:
            self._write(file, text.replace(mutant.found, mutant.put))
            code, output = self.test(mutant.tests, limit)
        except CompilerError as error:
            return TestedMutant(mutant, MutantResult.BROKEN, str(error))
        finally:
            self._write(file, text)
        if code == HUNG:
            return TestedMutant(mutant, MutantResult.HUNG, f"no end within {limit:.0f} s")
        if code in (PASSED, FAILED):
            return TestedMutant(
                mutant, MutantResult.KILLED if code == FAILED else MutantResult.SURVIVED
            )
        return TestedMutant(mutant, MutantResult.BROKEN, f"pytest ended with {code}:\n{output}")

    def _write(self, file: Path, text: str) -> None:
        """Write `file`; build the extension modules of its package if it is C.

        Raises CompilerError.
        """
        file.write_text(text, encoding="utf-8")
        if file.suffix != ".c":
            return
        package = next(folder for folder in file.parents if (folder / "setup.py").exists())
        done = subprocess.run(
            [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace", "--force"],
            cwd=package, env=self._environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise CompilerError(f"it does not compile:\n{done.stderr[-2000:]}")


class CompilerError(Exception):
    """A changed C file is not C any more."""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End pytest with the programs that its tests have started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def main(words: Sequence[str], root: Path = ROOT, path: Path = LIST) -> int:
    """Try the mutants whose path contains one of `words`, or all. Returns the exit code."""
    try:
        listed = read(path)
    except (KeyError, ValueError) as error:
        print(f"mutants: RED: {path.name} can't be read: {error}")
        return 1
    mutants = [m for m in listed if not words or any(word in m.file for word in words)]
    problems = flaws(mutants, root)
    for problem in problems:
        print(f"mutants: {problem}")
    if problems or not mutants:
        print(f"mutants: RED: {len(problems)} flaws in a list of {len(mutants)}")
        return 1
    with tempfile.TemporaryDirectory(prefix="mutants_") as folder:
        return _run(mutants, root, Path(folder))


def _run(mutants: Sequence[Mutant], root: Path, folder: Path) -> int:
    began = time.monotonic()
    copies: SimpleQueue[SourceCopy] = SimpleQueue()
    workers = os.cpu_count() or 1
    for number in range(workers):
        copies.put(SourceCopy(root, folder / str(number)))
    durations: dict[tuple[str, ...], float] = {}  # [s] of tests without a mutant

    def unbroken(tests: tuple[str, ...]) -> str:
        copy = copies.get()
        start = time.monotonic()
        code, output = copy.test(tests, LONGEST)
        durations[tests] = time.monotonic() - start
        copies.put(copy)
        if code == HUNG:
            return f"no end within {LONGEST:g} s without a mutant: {' '.join(tests)}\n{output}"
        return "" if code == PASSED else f"fail without a mutant: {' '.join(tests)}\n{output}"

    def tried(mutant: Mutant) -> TestedMutant:
        copy = copies.get()
        trial = copy.try_out(mutant, TIMES * max(durations[mutant.tests], SHORTEST))
        copies.put(copy)
        hung = trial.end is MutantResult.HUNG
        remark = f", as listed: {mutant.hangs}" if hung and mutant.hangs else ""
        print(f"{'' if trial.noticed else 'NOT KILLED: '}{trial.end.value}{remark}: {mutant}",
              flush=True)  # fmt: skip
        return trial

    with ThreadPoolExecutor(workers) as pool:
        broken = [
            output
            for output in pool.map(unbroken, dict.fromkeys(m.tests for m in mutants))
            if output
        ]
        if broken:
            print("\n".join(broken))
            print("mutants: RED: the tests have to pass without a mutant")
            return 1
        trials = list(pool.map(tried, mutants))
    return _conclude(trials, time.monotonic() - began)


def _conclude(trials: Sequence[TestedMutant], took: float) -> int:
    """Print the other results and the number of each kind; `took` [s]. Return the exit code."""
    left = [trial for trial in trials if not trial.noticed]
    for trial in left:
        print(": ".join(filter(None, (str(trial.mutant), trial.end.value, trial.output))))
    counts = ", ".join(f"{sum(it.end is end for it in trials)} {end.value}" for end in MutantResult)
    colour = "RED" if left else "green"
    print(f"mutants: {colour}: {len(trials)} mutants: {counts}; {took:.0f} s")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
