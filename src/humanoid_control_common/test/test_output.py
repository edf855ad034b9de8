"""A process goes on although its output is not read."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

LINES = 40_000  # of 100 bytes: more than any pipe holds
SCRIPT = f"""
import ctypes, sys
from humanoid_control_common.machine.output import never_wait_for_readers

never_wait_for_readers()
libc = ctypes.PyDLL(None)  # as the ROS log does: in C, with the interpreter held
stderr = ctypes.c_void_p.in_dll(libc, "stderr")
for _ in range({LINES}):
    libc.fputs(b"x" * 99 + b"\\n", stderr)
open(sys.argv[1], "w").write("done")
"""


@pytest.mark.parametrize("opened", [os.pipe, os.openpty], ids=["pipe", "terminal"])
def test_a_program_whose_messages_are_not_read_goes_on(
    opened: Callable[[], tuple[int, int]], tmp_path: object
) -> None:
    reader, writer = opened()
    done = f"{tmp_path}/done"
    try:
        subprocess.run([sys.executable, "-c", SCRIPT, done], stderr=writer, timeout=60, check=True)
        assert os.path.getsize(done) > 0
        assert os.get_blocking(writer)  # of those that share it
        assert os.read(reader, 50) == b"x" * 50
    finally:
        os.close(reader)
        os.close(writer)
