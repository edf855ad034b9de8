"""Runs every test: those that can share the machine, side by side, then those in wall time.

The latter run real processes: some beside others of their kind, the rest alone. What fails there
is tried once more, each test in a process of its own, as a machine that was held up for a tenth of
a second makes drives fail, and their tests. `verdict.py` says what makes a run red; its exit code
and its last line tell.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

import known_skips
from accounting import ALONE, PHASES, PROGRAMS, PURE
from verdict import FAILED, Outcome, Phase, Skip, expected, judge, read

UNIT, INTEGRATION = "--unit", "--integration"  # only one of the two halves
SLOWEST: Final = ("--durations", "15", "--durations-min", "5")
TRIED_AGAIN: Final = 10  # at most; where more fail it is not the machine
NOT_RUN: Final = Outcome("failed", "its second try ended before it did")


def main(arguments: Sequence[str], skips: Sequence[Skip] = known_skips.SKIPS) -> int:
    """All phases, whatever the first one finds. Returns the exit code."""
    only = {word for word in arguments if word in (UNIT, INTEGRATION)}
    words = [word for word in arguments if word not in only]
    names = [*([] if only == {INTEGRATION} else [PURE]), *([] if only == {UNIT} else PHASES[1:])]
    with tempfile.TemporaryDirectory(prefix="tests_") as folder:
        run = Run(Path(folder), words)
        for name in names:
            run.phase(name)
        run.second_tries()
        whole = not words and names == list(PHASES)
        verdict = judge(run.phases, run.tried_again, skips, whole=whole)
    sys.stdout.write("\n" + "\n".join(verdict.lines) + "\n")
    sys.stdout.flush()
    return verdict.code


class Run:
    """Phases of one run. The first one collects every test, the others only import their files."""

    def __init__(self, folder: Path, words: Sequence[str]) -> None:
        self.phases: list[Phase] = []
        self.tried_again: dict[str, Outcome] = {}
        self._folder = folder
        self._words = words

    def phase(self, name: str) -> None:
        """Run the tests of a phase."""
        phase = Phase(name)
        words = ["--phase", name]
        if known := self._known():
            if not (tests := expected(phase, known)):
                return
            words = self._only(name, tests)
        if name != ALONE:
            workers = str(min(os.cpu_count() or 1, 8))
            words += ["-n", workers, "--dist", "worksteal"]
        words += SLOWEST
        self.phases.append(self._pytest(name, words))

    def second_tries(self) -> None:
        """Only what failed, in wall time. Who died, or made the process die, gets none."""
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
            found = self._pytest(name, self._only(name, [test]))
            self.tried_again[test] = _outcome(found, test)

    def _known(self) -> Mapping[str, str]:
        return self.phases[0].collected if self.phases else {}

    def _only(self, name: str, tests: Iterable[str]) -> list[str]:
        file = self._folder / f"{name}.json"
        file.write_text(json.dumps(sorted(tests)))
        return [f"--only={file}"]

    def _pytest(self, name: str, words: Sequence[str]) -> Phase:
        notes = self._folder / name
        notes.mkdir()
        # A path of its own word would move pytest's root.
        code = _run([*words, f"--account={notes}", *self._words])
        return read(name, code, notes)


def _outcome(phase: Phase, test: str) -> Outcome:
    outcome = phase.outcomes.get(test, NOT_RUN)
    return outcome if phase.code in (0, FAILED) else NOT_RUN


def _run(words: Sequence[str]) -> int:
    paths = [str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    # Under nohup a terminal that closes must reach neither the tests nor the programs they start.
    apart = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "accounting", *words],
        env=environment,
        start_new_session=apart,
    )
    try:
        return process.wait()
    except KeyboardInterrupt:
        if apart:
            process.send_signal(signal.SIGINT)
        process.wait()
        raise


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
