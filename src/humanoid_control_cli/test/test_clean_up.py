"""A test whose program does not end on a signal fails."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from typing import Any

import pytest

STUBBORN = "import signal; signal.signal(15, signal.SIG_IGN); print('ready'); signal.pause()"
POLITE = STUBBORN.replace("SIG_IGN", "SIG_DFL")
LEAVES = f"""
import subprocess, sys
subprocess.Popen([sys.executable, "-c", {POLITE!r}], start_new_session=True)
print("ready")
"""


@pytest.fixture
def run(start: Any) -> Any:
    """Start code and wait until it prints that it is ready."""

    def begin(code: str) -> Any:
        begun = start(sys.executable, "-u", "-c", code)
        begun.wait_for("ready")
        return begun

    return begin


@pytest.fixture
def hurry(start: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that shortens all later waits."""
    surroundings = sys.modules[type(start).__module__]
    return lambda: monkeypatch.setattr(surroundings, "LONGEST_WAIT", 3.0)


def test_clean_up_accepts_programs_that_end_on_a_signal_or_have_ended(run: Any) -> None:
    polite, ended = run(POLITE), run("print('ready')")
    polite.clean_up()
    assert polite.process.returncode == -signal.SIGTERM
    assert ended.finish() == 0
    ended.clean_up()


def test_clean_up_reports_killed_programs_and_ends_the_others(
    run: Any, start: Any, hurry: Callable[[], None]
) -> None:
    polite, stubborn = run(POLITE), run(STUBBORN)
    hurry()
    with pytest.raises(AssertionError, match=r"had to be killed: .*SIG_IGN"):
        start.clean_up()
    assert stubborn.process.returncode == -signal.SIGKILL
    assert polite.process.returncode == -signal.SIGTERM


def test_clean_up_reports_killed_descendants_of_an_ended_program(
    run: Any, hurry: Callable[[], None]
) -> None:
    parent = run(LEAVES)
    assert parent.process.wait() == 0
    hurry()
    with pytest.raises(AssertionError, match=r"had to be killed: .*SIG_DFL"):
        parent.clean_up()
    assert not parent.descendants()
