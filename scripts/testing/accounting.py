"""Pytest plug-in of the test runner: record the collected tests and their outcomes.

A phase is a part of the run. Every test belongs to exactly one phase. Each process writes its
records immediately, as lines of JSON, so that a crash loses none. A worker of xdist writes the
tests that it has collected; the process that controls the workers writes the outcomes.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import pytest

PURE, PROGRAMS, ALONE = "pure", "programs", "alone"
PHASES: Final = (PURE, PROGRAMS, ALONE)
SOAK: Final = "soak"
SECOND_TRY: Final = "second try"  # property of a test that restarted within itself: the reason
CRASHED: Final = "crashed"  # outcome of a test whose worker died
_OF_XDIST: Final = signal.SIGKILL  # ends a worker that takes long to end
_OF_A_CRASH: Final = "???"  # `when` of the report that xdist writes for it


def phase_of(item: pytest.Item) -> str:
    """Return the one phase of a test."""
    for phase in (ALONE, PROGRAMS):
        if item.get_closest_marker(phase):
            return phase
    return PURE


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the options."""
    group = parser.getgroup("accounting")
    group.addoption("--account", metavar="FOLDER", help="note the tests and their outcomes here")
    group.addoption("--phase", choices=PHASES, help="run the tests of this phase")
    group.addoption("--only", metavar="FILE", help="run the tests that this JSON file lists")


def pytest_configure(config: pytest.Config) -> None:
    """Register the recorder if `--account` is given."""
    if folder := config.getoption("account"):
        config.pluginmanager.register(ResultRecorder(config, Path(folder)))


class ResultRecorder:
    """Records of this process."""

    def __init__(self, config: pytest.Config, folder: Path) -> None:
        self._config = config
        self._is_worker = hasattr(config, "workerinput")
        name = os.environ.get("PYTEST_XDIST_WORKER", "main") if self._is_worker else "main"
        self._file = (folder / f"{name}.jsonl").open("a", encoding="utf-8")
        self._phase: str | None = config.getoption("phase")
        only = config.getoption("only")
        self._only: frozenset[str] | None = (
            frozenset(json.loads(Path(only).read_text())) if only else None
        )
        self._files = {config.rootpath / test.split("::")[0] for test in self._only or ()}
        self._workers: list[Any] = []  # gateways
        if not self._is_worker:
            self._note("option", selected=_selects(config))

    def _note(self, kind: str, **values: Any) -> None:
        self._file.write(json.dumps({"kind": kind, **values}) + "\n")
        self._file.flush()

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Don't import files that hold none of the tests that are run."""
        if self._only is None or collection_path in self._files or not collection_path.is_file():
            return None
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> Iterable[None]:
        """Record every test left after deselection by other plug-ins, and keep this phase's."""
        found = list(items)
        result = yield
        selected = {item.nodeid for item in items}
        lost = [
            item.nodeid
            for item in found
            if item.nodeid not in selected and not item.get_closest_marker(SOAK)
        ]
        self._note("collected", tests={item.nodeid: phase_of(item) for item in items}, lost=lost)
        others = [item for item in items if not self._belongs(item)]
        items[:] = [item for item in items if self._belongs(item)]
        config.hook.pytest_deselected(items=others)
        return result

    def _belongs(self, item: pytest.Item) -> bool:
        if self._only is not None:
            return item.nodeid in self._only
        return self._phase in (None, phase_of(item))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Record a file that skips itself: its tests are never collected."""
        if report.skipped:
            self._note("file skipped", test=report.nodeid, reason=_reason(report))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Record the test, in case the process dies in it."""
        if not self._is_worker:
            self._note("started", test=nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Record the outcome of a test's set-up, call or teardown."""
        if self._is_worker:
            return
        outcome = CRASHED if report.when == _OF_A_CRASH else report.outcome
        again = [str(value) for key, value in report.user_properties if key == SECOND_TRY]
        self._note(
            "report",
            test=report.nodeid,
            when=report.when,
            outcome=outcome,
            reason="" if outcome == "passed" else _reason(report),
            again=again if report.when == "teardown" else [],
        )

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodeready(self, node: Any) -> None:
        """Keep each worker: xdist does not check how they end."""
        self._workers.append(node.gateway)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """Record a worker that ended before its tests."""
        if error:
            self._note("worker died", worker=node.gateway.id, error=str(error))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Record the workers that died of a signal, even after their last test."""
        for worker in self._workers:
            code = worker._io.popen.poll()  # noqa: SLF001  execnet offers it nowhere else
            if code is not None and code < 0 and -code != _OF_XDIST:
                self._note("worker died", worker=worker.id, error=signal.Signals(-code).name)


def _selects(config: pytest.Config) -> bool:
    """Return True if the command line leaves tests out."""
    option = config.option
    return bool(
        option.keyword
        or option.markexpr not in ("", f"not {SOAK}")
        or option.deselect
        or getattr(option, "lf", False)
    )


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return the reason of an outcome, in one line."""
    if isinstance(report.longrepr, tuple):  # a skip: file, line, reason
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    if hasattr(report, "wasxfail"):
        return f"expected to fail: {report.wasxfail}"
    crash = getattr(report.longrepr, "reprcrash", None)
    text = str(crash.message if crash else report.longrepr or "").strip()
    return text.splitlines()[0] if text else "no reason given"
