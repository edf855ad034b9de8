"""Verdict on a run of the tests: green, or the reasons why not."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from accounting import CRASHED

SECOND_TRIES: Final = 2  # a run with more of them fails
FAILED, NOTHING_SELECTED = 1, 5  # pytest's exit codes
PASSED, SKIPPED, UNFINISHED = "passed", "skipped", "not run to its end"
_BY_SIGNAL: Final = 128  # a shell's exit code of a process that died of signal n: this + n


@dataclass(frozen=True)
class Outcome:
    """Outcome of a test, with the reason if it did not pass."""

    result: str
    reason: str = ""
    again: tuple[str, ...] = ()  # reason of a new begin within the test

    def __str__(self) -> str:
        return f"{self.result}: {self.reason}" if self.reason else self.result


@dataclass(frozen=True)
class Skip:
    """Tests that may be skipped: node ids that begin so, for this reason, under a condition."""

    tests: str
    reason: str  # part of it
    condition: str
    holds: Callable[[], bool]  # here and now

    def covers(self, test: str, reason: str) -> bool:
        """Return True if this entry is for the test and the reason."""
        return test.startswith(self.tests) and self.reason in reason


@dataclass
class Phase:
    """One pytest run: its exit code, its tests, and their outcomes."""

    name: str
    code: int = 0
    collected: dict[str, str] = field(default_factory=dict)  # every test → its phase
    lost: tuple[str, ...] = ()  # deselected although the command line leaves none out
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    skipped_files: dict[str, str] = field(default_factory=dict)  # → reason
    died: dict[str, str] = field(default_factory=dict)  # by worker: the unfinished test
    running: str | None = None  # when the notes end


@dataclass(frozen=True)
class SecondTry:
    """A test that failed, or began again, and its second outcome."""

    test: str
    first: Outcome
    then: Outcome


@dataclass(frozen=True)
class Verdict:
    """Exit code and the lines to print, worst last."""

    code: int
    lines: tuple[str, ...]


def read(name: str, code: int, folder: Path) -> Phase:
    """Return the notes that the processes of a phase have left in `folder`."""
    phase = Phase(name, code)
    selected = False
    for file in sorted(folder.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            note = json.loads(line)
            if note["kind"] == "option":
                selected = note["selected"]
            else:
                _take(phase, note)
    if selected:
        phase.lost = ()
    return phase


def _take(phase: Phase, note: Mapping[str, Any]) -> None:
    kind = note["kind"]
    if kind == "collected":
        phase.collected |= note["tests"]
        phase.lost = tuple({*phase.lost, *note["lost"]})
    elif kind == "file skipped":
        phase.skipped_files[note["test"]] = note["reason"]
    elif kind == "worker died":
        phase.died[note["worker"]] = note["error"]
    elif kind == "started":
        phase.running = note["test"]
        phase.outcomes[note["test"]] = Outcome(UNFINISHED)
    else:
        _take_report(phase, note)


def _take_report(phase: Phase, note: Mapping[str, Any]) -> None:
    test, result = note["test"], note["outcome"]
    known = phase.outcomes.get(test, Outcome(UNFINISHED))
    if result != PASSED and known.result not in ("failed", CRASHED):
        phase.outcomes[test] = Outcome(result, note["reason"])
    elif note["when"] == "teardown" and known.result == UNFINISHED:
        phase.outcomes[test] = Outcome(PASSED, again=tuple(note["again"]))
    if note["when"] == "teardown":
        phase.running = None


def expected(phase: Phase, known: Mapping[str, str]) -> set[str]:
    """Return the tests that a phase must run, after the first collection of all."""
    return {test for test, belongs in known.items() if belongs == phase.name}


def judge(
    phases: Sequence[Phase],
    tried_again: Mapping[str, Outcome],
    skips: Sequence[Skip],
    *,
    whole: bool,
) -> Verdict:
    """Judge all phases together. `tried_again`: second outcomes; `whole`: no test was left out."""
    outcomes = {test: outcome for phase in phases for test, outcome in phase.outcomes.items()}
    known = {test: name for phase in phases for test, name in phase.collected.items()}
    tries = [
        *(SecondTry(test, outcomes[test], then) for test, then in tried_again.items()),
        *(
            SecondTry(test, Outcome("began anew", "; ".join(outcome.again)), Outcome(PASSED))
            for test, outcome in outcomes.items()
            if outcome.again
        ),
    ]
    last = outcomes | dict(tried_again)
    skipped = {test: each.reason for test, each in last.items() if each.result == SKIPPED}
    for phase in phases:
        skipped |= phase.skipped_files
    problems = [problem for phase in phases for problem in _problems_of(phase, known)]
    problems += [f"{test}: {each}" for test, each in last.items() if _is_bad(each)]
    problems += [
        f"{each.test}: skipped at its second try: {each.then.reason}"
        for each in tries
        if each.then.result == SKIPPED
    ]
    problems += _unlisted(skipped, skips)
    if len(tries) > SECOND_TRIES:
        problems.append(f"{len(tries)} tests needed a second try: {SECOND_TRIES} at most may")
    stale = _stale(skipped, skips) if whole else []
    lines = [
        *_about_skips(skipped, skips),
        *stale,
        *_about_tries(tries),
        *(f"red: {problem}" for problem in problems),
        _counts(last, skipped, tries, red=bool(problems)),
    ]
    return Verdict(_code(phases, red=bool(problems), nothing=not known), tuple(lines))


def _is_bad(outcome: Outcome) -> bool:
    return outcome.result not in (PASSED, SKIPPED, UNFINISHED)  # the last: reported as not run


def _problems_of(phase: Phase, known: Mapping[str, str]) -> Iterable[str]:
    if phase.code < 0:
        name = signal.Signals(-phase.code).name
        yield f"{phase.name}: the test process died of {name}, in {phase.running or 'no test'}"
    elif phase.code not in (0, FAILED, NOTHING_SELECTED):
        yield f"{phase.name}: pytest ended with exit code {phase.code}"
    for worker, reason in phase.died.items():
        yield f"{phase.name}: a test process died: {worker}: {reason}"
    for test in phase.lost:
        yield f"{test}: deselected, although nothing asked for that"
    due = expected(phase, known)
    for test in sorted(due):
        if phase.outcomes.get(test, Outcome(UNFINISHED)).result == UNFINISHED:
            yield f"{test}: collected, but not run to its end"
    for test in sorted(set(phase.outcomes) - due):
        yield f"{test}: run in phase {phase.name}, which it does not belong to"


def _unlisted(skipped: Mapping[str, str], skips: Sequence[Skip]) -> Iterable[str]:
    for test, reason in skipped.items():
        listed = [skip for skip in skips if skip.covers(test, reason)]
        if not listed:
            yield f"{test}: skipped, and not listed in scripts/testing/known_skips.py: {reason}"
        elif not any(skip.holds() for skip in listed):
            here = " / ".join(skip.condition for skip in listed)
            yield f"{test}: skipped ({reason}), but it is not so here that {here}"


def _about_skips(skipped: Mapping[str, str], skips: Sequence[Skip]) -> Iterable[str]:
    for skip in skips:
        count = sum(skip.covers(test, reason) for test, reason in skipped.items())
        if count:
            yield f"skipped as listed: {count} of {skip.tests}: {skip.condition}"


def _stale(skipped: Mapping[str, str], skips: Sequence[Skip]) -> list[str]:
    return [
        f"stale in scripts/testing/known_skips.py: nothing of {skip.tests} was skipped with "
        f"{skip.reason!r}, although {skip.condition}"
        for skip in skips
        if not any(skip.covers(test, reason) for test, reason in skipped.items()) and skip.holds()
    ]


def _about_tries(tries: Sequence[SecondTry]) -> Iterable[str]:
    for each in tries:
        yield f"second try: {each.test}"
        yield f"    first: {each.first}"
        yield f"    then:  {each.then}"


def _counts(
    last: Mapping[str, Outcome],
    skipped: Mapping[str, str],
    tries: Sequence[SecondTry],
    *,
    red: bool,
) -> str:
    passed = sum(each.result == PASSED for each in last.values())
    failed = sum(_is_bad(each) for each in last.values())
    return (
        f"{'RED' if red else 'green'}: {passed} passed, {failed} failed, {len(skipped)} skipped, "
        f"{len(tries)} second tries"
    )


def _code(phases: Sequence[Phase], *, red: bool, nothing: bool) -> int:
    codes = [_BY_SIGNAL - phase.code if phase.code < 0 else phase.code for phase in phases]
    worst = max((code for code in codes if code not in (FAILED, NOTHING_SELECTED)), default=0)
    if worst or red:
        return worst or FAILED
    return NOTHING_SELECTED if nothing else 0
