"""Run every test: those in wall time first, the others beside them at idle priority.

A test in wall time starts processes or has timing demands. Tests that start processes run in
parallel, tests with timing demands alone. A failed test of these kinds is repeated once, in a
process of its own, because a hold-up of the machine for a tenth of a second makes drives fail.
`verdict.py` decides whether the run fails; the exit code and the last line state the result.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Self

import known_skips
from accounting import ALONE, PHASES, PROGRAMS, PURE
from humanoid_control_common.machine.library_environment import ENVIRONMENT
from verdict import FAILED, Outcome, Phase, Skip, expected, judge, read

UNIT, INTEGRATION = "--unit", "--integration"  # only one of the two halves
SLOWEST: Final = ("--durations", "15", "--durations-min", "5")
# [s] limit of a test beside the others, which has the processors' idle time only
BESIDE_TIMEOUT: Final = 1200
LOOK: Final = 0.2  # [s] between two checks of the collected tests
TRIED_AGAIN: Final = 10  # limit; more failures have another reason than the machine
NOT_RUN: Final = Outcome("failed", "its second try ended before it did")


def main(arguments: Sequence[str], skips: Sequence[Skip] = known_skips.SKIPS) -> int:
    """Run all phases, even after failures. Returns the exit code."""
    only = {word for word in arguments if word in (UNIT, INTEGRATION)}
    words = [word for word in arguments if word not in only]
    names = [*([] if only == {INTEGRATION} else [PURE]), *([] if only == {UNIT} else PHASES[1:])]
    with tempfile.TemporaryDirectory(prefix="tests_") as folder:
        run = Run(Path(folder), words)
        run.phases_of(names)
        run.second_tries()
        whole = not words and names == list(PHASES)
        verdict = judge(run.phases, run.tried_again, skips, whole=whole)
    sys.stdout.write("\n" + "\n".join(verdict.lines) + "\n")
    sys.stdout.flush()
    return verdict.code


class Run:
    """Phases of one run. The first one collects every test, the others import only their files."""

    def __init__(self, folder: Path, words: Sequence[str]) -> None:
        self.phases: list[Phase] = []
        self.tried_again: dict[str, Outcome] = {}
        self._folder = folder
        self._words = words
        self._known: Mapping[str, str] = {}  # every test → its phase, once collected

    def phases_of(self, names: Sequence[str]) -> None:
        """Run the phases: all tests are collected, then the pure ones run beside the others."""
        if len(names) < len(PHASES) or self._words:
            self._in_turn(names)
            return
        command = [*self._command(PURE), "-o", f"timeout={BESIDE_TIMEOUT}"]
        with BackgroundPhase(command, self._folder / PURE) as beside:
            self._known = beside.collected()
            self._in_turn(names[1:])
            self.phases.insert(0, read(PURE, beside.finish(), self._folder / PURE))

    def _in_turn(self, names: Sequence[str]) -> None:
        for name in names:
            if self._known and not expected(Phase(name), self._known):
                continue
            self.phases.append(read(name, _run(self._command(name)), self._folder / name))
            self._known = self._known or self.phases[0].collected

    def _command(self, name: str) -> list[str]:
        """Return pytest's command line for a phase."""
        words = ["--phase", name]
        if self._known:
            words = self._only(name, expected(Phase(name), self._known))
        if name != ALONE:
            workers = str(min(os.cpu_count() or 1, 8))
            words += ["-n", workers, "--dist", "worksteal"]
        return self._pytest(name, [*words, *SLOWEST])

    def second_tries(self) -> None:
        """Repeat failed tests in wall time, but none that crashed its process."""
        failed = [
            test
            for phase in self.phases
            if phase.name in (PROGRAMS, ALONE) and phase.code == FAILED
            for test, outcome in phase.outcomes.items()
            if outcome.result == "failed"
        ]
        for number, test in enumerate(failed[:TRIED_AGAIN]):
            sys.stdout.write(f"\nonce more, alone: {test}\n")
            sys.stdout.flush()
            name = f"second_try_{number}"
            code = _run(self._pytest(name, self._only(name, [test])))
            self.tried_again[test] = _outcome(read(name, code, self._folder / name), test)

    def _only(self, name: str, tests: Iterable[str]) -> list[str]:
        file = self._folder / f"{name}.json"
        file.write_text(json.dumps(sorted(tests)))
        return [f"--only={file}"]

    def _pytest(self, name: str, words: Sequence[str]) -> list[str]:
        notes = self._folder / name
        notes.mkdir()
        program = [sys.executable, "-m", "pytest", "-p", "accounting"]
        # A path as a separate word would move pytest's root.
        return [*program, *words, f"--account={notes}", *self._words]


class BackgroundPhase:
    """A phase in the processors' idle time, while the context is open; its output comes last."""

    def __init__(self, command: Sequence[str], notes: Path) -> None:
        self._notes = notes
        self._output = notes / "output.txt"
        with self._output.open("wb") as output:
            self._process = _start(command, stdout=output, preexec_fn=_be_idle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()  # no effect unless the other phases were interrupted
        self._process.wait()

    def collected(self) -> Mapping[str, str]:
        """Wait until all tests are collected; return the phase of each, nothing without any."""
        while self._process.poll() is None:
            for file in self._notes.glob("*.jsonl"):
                for line in file.read_text(encoding="utf-8").splitlines(keepends=True):
                    if line.endswith("\n") and (note := json.loads(line))["kind"] == "collected":
                        return dict(note["tests"])
            time.sleep(LOOK)
        return {}

    def finish(self) -> int:
        """Wait for its end, show its output, return the exit code."""
        code = _wait(self._process)
        sys.stdout.write(self._output.read_text(encoding="utf-8", errors="replace"))
        return code


def _outcome(phase: Phase, test: str) -> Outcome:
    outcome = phase.outcomes.get(test, NOT_RUN)
    return outcome if phase.code in (0, FAILED) else NOT_RUN


def _run(command: Sequence[str]) -> int:
    sys.stdout.flush()
    return _wait(_start(command))


def _start(command: Sequence[str], **options: Any) -> subprocess.Popen[bytes]:
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    path = os.pathsep.join(path for path in paths if path)
    environment = {**ENVIRONMENT, **os.environ, "PYTHONPATH": path}
    # Under nohup a terminal that closes must reach neither the tests nor the programs they start.
    return subprocess.Popen(command, env=environment, start_new_session=_apart(), **options)


def _wait(process: subprocess.Popen[bytes]) -> int:
    try:
        return process.wait()
    except KeyboardInterrupt:
        if _apart():
            process.send_signal(signal.SIGINT)
        process.wait()
        raise


def _apart() -> bool:
    return signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def _be_idle() -> None:
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
