"""The destruction of nodes does not make a process hang."""

from __future__ import annotations

import subprocess
import sys

import pytest

# The call holds the interpreter, as the wait of Fast DDS does.
HANGING = """
import ctypes
from humanoid_control_common.middleware.limited_close import limited_close

print("done", flush=True)
with limited_close(0.1):
    ctypes.PyDLL(None).sleep(10)
"""


def test_a_close_that_holds_the_interpreter_too_long_ends_the_process() -> None:
    run = subprocess.run(
        [sys.executable, "-c", HANGING], capture_output=True, text=True, timeout=60, check=False
    )
    assert run.returncode == 1
    assert run.stdout == "done\n"
    assert "Timeout" in run.stderr
    assert "line 7 in <module>" in run.stderr


@pytest.mark.parametrize("ending", ["pass", "raise ValueError"])
def test_after_the_close_the_process_has_no_limit(ending: str) -> None:
    program = f"""
import time
from humanoid_control_common.middleware.limited_close import limited_close

try:
    with limited_close(0.05):
        {ending}
except ValueError:
    pass
time.sleep(0.5)
print("alive")
"""
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "alive\n", "")
