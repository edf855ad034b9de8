"""Processes that others need end after them, also when the one that all wait for is killed."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from humanoid_control_common.testing import on_reserved_domain

REQUIRED = os.environ.get("HUMANOID_REQUIRE_LAUNCH") == "1"
MISSING = not all(importlib.util.find_spec(name) for name in ("launch", "launch_ros"))
pytestmark = pytest.mark.skipif(
    MISSING and not REQUIRED, reason="the launch system is not installed (launch, launch_ros)"
)
PACKAGE = "humanoid_stand_ins"
# Ends by SIGTERM; the user ends by SIGINT, and takes longer for it than any signal for its way.
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
if label == "user":
    signal.signal(signal.SIGINT, end)
    os.kill(int((log.parent / "wire.pid").read_text()), signal.SIGKILL)
(log.parent / (label + ".pid")).write_text(str(os.getpid()))
print("ready", flush=True)
while True:
    signal.pause()
"""
LAUNCH = """
import sys
from launch import LaunchService
from humanoid_bringup.launching.description import launched
from humanoid_bringup.options import Process
def start(robot, chosen, folder):
    def process(label, **others):
        return Process(label, sys.argv[1], label, arguments=("-",), **others)
    return [
        process("box", required=False, outlives=True),
        process("wire", ready="ready", outlives=True),
        process("user"),
    ], []
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


def test_launch_keeps_the_end_order_after_a_kill_of_a_needed_process(
    programs: Path, tmp_path: Path
) -> None:
    prefixes = f"{tmp_path}{os.pathsep}{os.environ['AMENT_PREFIX_PATH']}"
    command = [sys.executable, "-W", "ignore", "-c", LAUNCH, PACKAGE]
    with on_reserved_domain():
        run = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            env=os.environ | {"AMENT_PREFIX_PATH": prefixes},
        )
    assert run.returncode == 1, run.stdout + run.stderr
    assert "wire failed: SIGKILL" in run.stdout + run.stderr
    assert (programs / "log").read_text().split() == ["user", "box"]
