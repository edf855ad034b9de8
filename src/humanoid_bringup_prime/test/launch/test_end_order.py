"""Processes that others need end after them, however the end begins."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from test_support.ros.ros_domains import on_reserved_domain

from humanoid_control_common.machine.library_environment import ENVIRONMENT

REQUIRED = os.environ.get("HUMANOID_REQUIRE_LAUNCH") == "1"
MISSING = not all(importlib.util.find_spec(name) for name in ("launch", "launch_ros"))
pytestmark = pytest.mark.skipif(
    MISSING and not REQUIRED, reason="the launch system is not installed (launch, launch_ros)"
)
PACKAGE = "humanoid_stand_ins"
# Ends by SIGTERM; the user ends by SIGINT, and takes longer for it than any signal for its way.
# The last word tells the user how the end begins. The box is ready when the wire is: an interrupt
# that came before would end it.
PROGRAM = """#!{python}
import os, signal, sys, time
from pathlib import Path
label = sys.argv[0].rpartition("/")[2]
log = Path(__file__).parent / "log"
def end(*_):
    if label == "user":
        time.sleep(0.5)
    with log.open("a") as file:
        file.write(label + "\\n")
    os._exit(0)
signal.signal(signal.SIGTERM, end)
if label == "user" and sys.argv[-1] == "ends":
    (log.parent / "environment").write_text(str(dict(os.environ)))
    end()
if label == "user":
    signal.signal(signal.SIGINT, end)
    os.kill(int((log.parent / "wire.pid").read_text()), signal.SIGKILL)
(log.parent / (label + ".pid")).write_text(str(os.getpid()))
while label == "wire" and not (log.parent / "box.pid").exists():
    time.sleep(0.01)
print("ready", flush=True)
while True:
    time.sleep(0.01)
"""
LAUNCH = """
import os, signal, subprocess, sys
from launch import LaunchService
from humanoid_bringup.launching.description import launched
from humanoid_bringup.options import Process
def start(robot, chosen, folder):
    def process(label, **others):
        return Process(label, sys.argv[1], label, arguments=(sys.argv[2],), **others)
    return [
        process("box", required=False, outlives=True),
        process("wire", ready="ready", outlives=True),
        process("user"),
    ], []
class Interrupted(subprocess.Popen):
    def __init__(self, words, *others, **named):
        super().__init__(words, *others, **named)
        if sys.argv[2] == "interrupted" and words[-2].endswith("user"):
            os.killpg(0, signal.SIGINT)
subprocess.Popen = Interrupted
service = LaunchService(noninteractive=True)
service.include_launch_description(launched("prime", (), start))
sys.exit(service.run())
"""


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """The folder of three programs that an ament prefix has."""
    index = tmp_path / "share/ament_index/resource_index/packages"
    folder = tmp_path / "lib" / PACKAGE
    index.mkdir(parents=True)
    folder.mkdir(parents=True)
    (index / PACKAGE).touch()
    for label in ("box", "wire", "user"):
        (folder / label).write_text(PROGRAM.format(python=sys.executable))
        (folder / label).chmod(0o755)
    return folder


def launched(folder: Path, how: str) -> tuple[int, str]:
    """Exit code and output of a launch whose end begins as `how` says."""
    prefixes = f"{folder}{os.pathsep}{os.environ['AMENT_PREFIX_PATH']}"
    command = [sys.executable, "-W", "ignore", "-c", LAUNCH, PACKAGE, how]
    with on_reserved_domain():
        run = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            start_new_session=True,
            env=os.environ | {"AMENT_PREFIX_PATH": prefixes},
        )
    return run.returncode, run.stdout + run.stderr


def test_launch_keeps_the_end_order_after_a_kill_of_a_needed_process(
    programs: Path, tmp_path: Path
) -> None:
    code, output = launched(tmp_path, "kills")
    assert code == 1, output
    assert "wire failed: SIGKILL" in output
    assert (programs / "log").read_text().split() == ["user", "box"]


def test_launch_ends_its_last_process_at_once_after_the_others_ended(
    programs: Path, tmp_path: Path
) -> None:
    code, output = launched(tmp_path, "ends")
    assert code == 0, output
    assert (programs / "log").read_text().split() == ["user", "wire", "box"]
    assert "failed to terminate" not in output
    environment = ast.literal_eval((programs / "environment").read_text())
    wanted = {name: os.environ.get(name, value) for name, value in ENVIRONMENT.items()}
    assert wanted.items() <= environment.items(), "as with hc up"


def test_an_interrupt_while_launch_starts_a_process_does_not_keep_it_from_ending(
    programs: Path, tmp_path: Path
) -> None:
    code, output = launched(tmp_path, "interrupted")
    assert code == 0, output
    assert "Traceback" not in output
    assert (programs / "log").read_text().split()[-2:] == ["wire", "box"]
    for label in ("wire", "box"):  # a second one could reach a process that has just ended
        assert output.count(f"sending signal 'SIGTERM' to process[{label}") == 1, output
