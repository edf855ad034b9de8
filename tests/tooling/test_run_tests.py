"""`make test` runs every test once, reports each result, and succeeds only if all have run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

import run_tests
from accounting import ALONE, PROGRAMS, PURE
from verdict import Outcome, Phase, Skip, Verdict, judge

CONFIGURATION = """
[pytest]
addopts = -p xdist.plugin -p no:cacheprovider -m "not soak"
markers =
    soak
    alone
    programs
"""
HEAD = """
import os, pathlib, signal, time
import pytest
tried = pathlib.Path(__file__).with_name("tried")
alone, programs = pytest.mark.alone, pytest.mark.programs
"""
DIE = "os.kill(os.getpid(), signal.SIGSEGV)"
NOW_AND_THEN = """
    if not tried.exists():
        tried.touch()
        assert False, "late"
"""
SEGMENTATION_FAULT = 128 + signal.SIGSEGV


class SuiteRun(NamedTuple):
    code: int
    text: str

    @property
    def last(self) -> str:
        return self.text.splitlines()[-1]


Suite = Callable[..., SuiteRun]


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Suite:
    """Runs a suite of one file, as `make test ARGS=…` does."""
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "pytest.ini").write_text(CONFIGURATION)
    monkeypatch.chdir(folder)
    for name in [name for name in os.environ if name.startswith("PYTEST_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # for speed
    monkeypatch.setattr(os, "cpu_count", lambda: 1)

    def make(
        text: str, *words: str, skips: Sequence[Skip] = (), conftest: str = "", extra: str = ""
    ) -> SuiteRun:
        (folder / "test_it.py").write_text(HEAD + text)
        if extra:
            (folder / "test_extra.py").write_text(extra)
        (folder / "conftest.py").write_text(conftest)
        code = run_tests.main(words, skips)
        captured = capfd.readouterr()
        return SuiteRun(code, captured.out.rstrip())

    return make


def test_every_test_runs_once_and_the_last_line_counts(run: Suite) -> None:
    ran = run(
        """
@pytest.mark.parametrize("i", range(3))
def test_pure(i): pass
@programs
def test_programs(tmp_path): pass
@alone
@programs
def test_both(): pass
@alone
def test_alone(): pass
@pytest.mark.soak
def test_soak(): assert False
"""
    )
    assert ran.code == 0
    assert ran.last == "green: 6 passed, 0 failed, 0 skipped, 0 second tries"
    # pytest's last lines of three phases; the phase of unit tests ran beside the others.
    assert [line.split(" in ")[0].strip("= ") for line in ran.text.splitlines() if " in " in line][
        :3
    ] == ["1 passed", "2 passed, 5 deselected", "3 passed"]


def test_half_a_run_and_words_for_pytest(run: Suite) -> None:
    suite = """
def test_pure(): pass
@programs
def test_damping(): pass
@alone
def test_alone(): pass
"""
    assert run(suite, "--unit").last.startswith("green: 1 passed,")
    assert run(suite, "--integration").last.startswith("green: 2 passed,")
    assert run(suite, "--integration", "-k", "damping").last.startswith("green: 1 passed,")


@pytest.mark.parametrize(
    ("mark", "phase"), [("", PURE), ("@programs", PROGRAMS), ("@alone", ALONE)], ids=str
)
def test_test_process_that_dies_fails_the_run_in_every_phase(
    mark: str, phase: str, run: Suite
) -> None:
    ran = run(f"{mark}\ndef test_dies(): {DIE}\ndef test_fine(): pass\n")
    assert ran.code != 0
    assert "SIGSEGV" in ran.text
    assert ran.last.startswith("RED: 1 passed")
    assert "once more" not in ran.text
    assert ("test_it.py::test_dies: crashed" in ran.text) == (phase != ALONE)
    if phase == ALONE:
        assert ran.code == SEGMENTATION_FAULT
        assert "red: alone: the test process died of SIGSEGV, in test_it.py::test_dies" in ran.text
        assert "test_it.py::test_dies: collected, but not run to its end" in ran.text


def test_worker_that_dies_after_its_last_test_fails_the_run(run: Suite) -> None:
    ran = run(f"def test_leaves(): import atexit; atexit.register(lambda: {DIE})\n")
    assert ran.code == 1
    assert "red: pure: a test process died: gw0: SIGSEGV" in ran.text


def test_collected_test_that_does_not_run_fails_the_test_run(run: Suite) -> None:
    suite = "@alone\ndef test_leaves(): os._exit(0)\n@alone\ndef test_never(): pass\n"
    ran = run(suite)
    assert ran.code == 1
    for name in ("leaves", "never"):
        assert f"red: test_it.py::test_{name}: collected, but not run to its end" in ran.text


def test_unrequested_deselection_fails_the_run(run: Suite) -> None:
    conftest = "def pytest_collection_modifyitems(items): items[:] = items[:1]\n"
    ran = run("def test_1(): pass\ndef test_2(): pass\n", conftest=conftest)
    assert ran.code == 1
    assert "red: test_it.py::test_2: deselected, although nothing asked for that" in ran.text


def test_unlisted_skip_or_listed_skip_without_its_condition_fails_the_run(
    run: Suite,
) -> None:
    suite = """
def test_1(): pytest.skip("no cable here")
def test_2(): pytest.skip("no browser here")
def test_3(): pass
@pytest.mark.xfail(reason="some day")
def test_4(): assert False
"""
    module = "import pytest\npytest.importorskip('no_such_module', reason='nothing there')\n"
    skips = [
        Skip("test_it.py", "no cable", "there is no cable", lambda: True),
        Skip("test_it.py", "no browser", "there is no browser", lambda: False),
        Skip("test_it.py", "no ring", "there is no ring", lambda: True),
        Skip("test_it.py", "no arm", "there is no arm", lambda: False),
    ]
    ran = run(suite, skips=skips, extra=module)
    assert ran.code == 1
    assert [
        line for line in ran.text.splitlines() if line.startswith(("red", "stale", "skip"))
    ] == [
        "skipped as listed: 1 of test_it.py: there is no cable",
        "skipped as listed: 1 of test_it.py: there is no browser",
        "stale in scripts/testing/known_skips.py: nothing of test_it.py was skipped with "
        "'no ring', although there is no ring",
        "red: test_it.py::test_2: skipped (no browser here), but it is not so here that "
        "there is no browser",
        "red: test_it.py::test_4: skipped, and not listed in scripts/testing/known_skips.py: "
        "expected to fail: some day",
        "red: test_extra.py: skipped, and not listed in scripts/testing/known_skips.py: "
        "nothing there",
    ]
    assert ran.last == "RED: 1 passed, 0 failed, 4 skipped, 0 second tries"


def test_a_second_try_has_fresh_fixtures_is_alone_and_is_listed_last(run: Suite) -> None:
    ran = run(
        f"""
@pytest.fixture(scope="module")
def process(): return os.getpid()
@alone
def test_first(process): (tried.with_name("first")).write_text(str(process))
@alone
def test_late(process):{NOW_AND_THEN}
    assert str(process) != tried.with_name("first").read_text()
"""
    )
    assert ran.code == 0
    assert ran.text.splitlines()[-4:] == [
        "second try: test_it.py::test_late",
        "    first: failed: AssertionError: late",
        "    then:  passed",
        "green: 2 passed, 0 failed, 0 skipped, 1 second tries",
    ]


def test_no_second_try_hides_a_failure(run: Suite) -> None:
    pure = run(f"def test_pure():{NOW_AND_THEN}")
    assert (pure.code, "once more" in pure.text) == (1, False)
    Path("tried").unlink()
    skips = [Skip("test_it.py", "", "always", lambda: True)]
    skipped = run(f"@alone\ndef test_it():{NOW_AND_THEN}    pytest.skip('odd')\n", skips=skips)
    assert skipped.code == 1
    assert "red: test_it.py::test_it: skipped at its second try: odd" in skipped.text
    broken = run("@alone\ndef test_it(): assert 1 == 2\n", "--integration")
    assert broken.code == 1
    assert "    then:  failed: assert 1 == 2" in broken.text
    Path("tried").unlink()
    dead = run(f"@alone\ndef test_it():{NOW_AND_THEN}    {DIE}\n")
    assert dead.code == 1
    assert "    then:  failed: its second try ended before it did" in dead.text


def test_a_skip_while_a_failed_test_is_cleaned_up_hides_no_failure(run: Suite) -> None:
    skips = [Skip("test_it.py", "odd", "it is so everywhere", lambda: True)]
    odd = "@pytest.fixture\ndef odd():\n    yield\n    pytest.skip('odd')\n"
    ran = run(f"{odd}def test_it(odd): assert False\n", skips=skips)
    assert ran.code == 1
    assert "1 failed, 0 skipped" in ran.last


def test_a_test_that_begins_anew_within_itself_counts_as_a_second_try(run: Suite) -> None:
    ran = run("@programs\ndef test_it(record_property): record_property('second try', 'held up')\n")
    assert ran.code == 0
    assert ran.text.splitlines()[-3:] == [
        "    first: began anew: held up",
        "    then:  passed",
        "green: 1 passed, 0 failed, 0 skipped, 1 second tries",
    ]


@pytest.mark.parametrize(("count", "code"), [(2, 0), (3, 1)])
def test_two_second_tries_at_most(count: int, code: int) -> None:
    names = [str(number) for number in range(count)]
    phase = Phase(ALONE, 1, dict.fromkeys(names, ALONE))
    phase.outcomes = dict.fromkeys(names, Outcome("failed", "late"))
    found = judge([phase], dict.fromkeys(names, Outcome("passed")), [], whole=True)
    assert found.code == code
    message = f"red: {count} tests needed a second try: 2 at most may"
    assert (message in found.lines) == bool(code)


def verdict_on(code: int, phase: str = PURE) -> Verdict:
    outcomes = {"a": Outcome("passed")}
    return judge([Phase(phase, code, {"a": phase}, outcomes=outcomes)], {}, [], whole=True)


@pytest.mark.parametrize(
    ("code", "expected"),
    [(0, 0), (2, 2), (3, 3), (4, 4), (-9, 137), (-11, 139), (-6, 134)],
)
def test_exit_code_that_no_test_explains_fails_the_run(code: int, expected: int) -> None:
    found = verdict_on(code)
    assert found.code == expected
    assert found.lines[-1].startswith("RED" if expected else "green")


def test_a_run_without_tests_is_not_green() -> None:
    assert judge([Phase(PURE, 5), Phase(ALONE, 5)], {}, [], whole=False).code == 5


def test_test_that_runs_in_a_wrong_phase_fails_the_run() -> None:
    passed = Outcome("passed")
    found = judge(
        [
            Phase(PURE, 0, {"a": PURE, "b": ALONE}, outcomes={"a": passed, "b": passed}),
            Phase(ALONE, 0, {"b": ALONE}, outcomes={"b": passed}),
        ],
        {},
        [],
        whole=True,
    )
    assert found.code == 1
    assert "red: b: run in phase pure, which it does not belong to" in found.lines


@pytest.mark.parametrize(
    "number", [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM], ids=str
)
def test_programs_started_by_tests_obey_signals_that_the_tests_ignore(
    number: signal.Signals,
) -> None:
    """SIGINT is ignored, as under nohup and in the background of a script."""
    asks = "import signal; print([signal.getsignal(n) for n in (1, 2, 3, 15)])"
    code = (
        "import os, signal, subprocess, sys\n"
        "import conftest\n"
        "conftest.heed_signals()\n"
        f"subprocess.run([sys.executable, '-c', {asks!r}])\n"
        "os.kill(os.getpid(), signal.SIGHUP) if sys.argv[1] == '1' else None\n"
        "print('alive')\n"
    )
    ignoring = f"trap '' {number.name.removeprefix('SIG')}; exec \"$@\""
    words = ["bash", "-c", ignoring, "-", sys.executable, "-c", code, str(int(number))]
    root = Path(run_tests.__file__).parents[2]
    done = subprocess.run(words, check=False, cwd=root, capture_output=True, text=True)
    assert "SIG_IGN" not in done.stdout
    assert done.stdout.splitlines()[1:] == ["alive"]
