"""Programs that are started as copies are processes like those started anew."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_support.programs.prepared_programs import PreparedProgram, PreparedPrograms

GIVE_UP = 60.0  # [s]; a dead-man's switch
PROGRAM = """
import os, signal, sys, tempfile
def main():
    paths = [f"/proc/self/fd/{i}" for i in os.listdir("/proc/self/fd")]
    files = [os.readlink(path) for path in paths if os.path.lexists(path)]
    print(sys.argv, os.environ.get("OWN"), os.environ.get("LEFT"), tempfile.gettempdir())
    print(os.getsid(0) == os.getpid(), sum("socket" in it for it in files), flush=True)
    if "wait" in sys.argv:
        signal.pause()
    return 3
"""


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PreparedPrograms]:
    """With a console script `probe`, in an environment with LEFT."""
    (tmp_path / "probe_of_a_test.py").write_text(PROGRAM)
    points = tmp_path / "probe_of_a_test.egg-info/entry_points.txt"
    points.parent.mkdir()
    points.write_text("[console_scripts]\nprobe = probe_of_a_test:main\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    monkeypatch.setenv("LEFT", "here")
    found = PreparedPrograms()
    yield found
    found.close()


def started(programs: PreparedPrograms, log: Path, *words: str) -> PreparedProgram:
    environment = {"OWN": "1", "TMPDIR": str(log.parent)}
    with log.open("w") as file:
        return programs.start(["/some/where/probe", *words], environment, file.fileno())


def test_copy_has_its_own_arguments_environment_session_and_exit_code(
    programs: PreparedPrograms, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    assert started(programs, log, "a", "b").wait(GIVE_UP) == 3
    first, second = log.read_text().splitlines()
    assert first == f"['/some/where/probe', 'a', 'b'] 1 None {tmp_path}"
    assert second == "True 0", "no socket is left open in it"


def test_copies_run_side_by_side_and_end_by_signals(
    programs: PreparedPrograms, tmp_path: Path
) -> None:
    first, second = (started(programs, tmp_path / f"log{i}", "wait") for i in range(2))
    assert first.pid != second.pid
    first.kill()
    assert first.wait(GIVE_UP) == -signal.SIGKILL
    assert second.poll() is None
    second.send_signal(signal.SIGTERM)
    assert second.wait(GIVE_UP) == -signal.SIGTERM
    second.send_signal(signal.SIGTERM)  # it has ended: no effect
    assert second.poll() == second.returncode == -signal.SIGTERM
