"""A virtual robot that does not end after SIGTERM fails its test."""

from __future__ import annotations

import subprocess
import sys

import pytest

from humanoid_twin import testing
from humanoid_twin.errors import TwinError

STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1); signal.pause()"
POLITE = STUBBORN.replace("SIG_IGN", "SIG_DFL")


def _running(code: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-u", "-c", code]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def test_killed_virtual_robot_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(testing, "_END_TIMEOUT", 0.05)
    process = _running(STUBBORN)
    with pytest.raises(TwinError, match="had to be killed"):
        testing._stop(process)
    assert process.returncode == -9
    assert process.stdout is not None
    assert process.stdout.closed


def test_virtual_robot_that_ends_on_sigterm_or_has_ended_is_accepted() -> None:
    process = _running(POLITE)
    testing._stop(process)
    assert process.returncode == -15
    testing._stop(process)
