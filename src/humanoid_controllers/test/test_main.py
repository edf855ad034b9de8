"""The control process imports its modules before its loop can run."""

from __future__ import annotations

import subprocess
import sys

import pytest

CODE = """
import sys
from humanoid_controller_manager.ros.process import control_process
control_process.run = lambda *_: print("onnxruntime" in sys.modules) or 0
from humanoid_controllers.main import {entry}
{entry}()
"""


@pytest.mark.parametrize("entry", ["main", "main_without_mode_manager"])
def test_no_tick_waits_for_the_import_of_onnx_runtime(entry: str) -> None:
    command = [sys.executable, "-c", CODE.format(entry=entry)]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "True\n"
