"""The operating system: the lock of the domain, real-time scheduling."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot import domain_lock
from humanoid_control_common.robot.domain_lock import take_domain_lock

HOLD_LOCK = """
import os, pathlib, signal, sys
from humanoid_control_common.robot import domain_lock
domain_lock.FOLDER = pathlib.Path(sys.argv[1])
lock = domain_lock.take_domain_lock()
print(os.getpid(), flush=True)
signal.pause()
"""
# Without rights, also if root runs the tests.
UNPRIVILEGED = """
import os, resource, threading
resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
resource.setrlimit(resource.RLIMIT_MEMLOCK, (0, 0))
from humanoid_control_common.machine.realtime import calm_interpreter, make_thread_realtime
if os.getuid() == 0:
    os.setuid(65534)
answers = []
def work():
    answers.append(make_thread_realtime(80))
thread = threading.Thread(target=work)
thread.start()
thread.join()
calm_interpreter()
print(answers)
"""


@pytest.fixture(autouse=True)
def _own_domain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "42")
    monkeypatch.setattr(domain_lock, "FOLDER", tmp_path)


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD_LOCK, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == str(process.pid)
    yield process
    process.kill()
    process.wait()
    process.stdout.close()


def test_a_second_holder_is_refused_and_the_first_is_named(holder: subprocess.Popen[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        take_domain_lock()
    assert "ROS domain 42" in str(caught.value)
    assert f"pid {holder.pid}" in str(caught.value)


def test_a_holder_killed_without_warning_leaves_the_domain_free(
    holder: subprocess.Popen[str],
) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with take_domain_lock():
        pass


def test_within_one_process_the_lock_is_exclusive_as_well_and_freed_by_closing() -> None:
    lock = take_domain_lock()
    with pytest.raises(ConfigError, match=f"pid {os.getpid()}"):
        take_domain_lock()
    lock.close()
    take_domain_lock().close()


def test_a_refused_holder_does_not_spoil_the_answer_of_the_next_one() -> None:
    with take_domain_lock():
        for _ in range(3):
            with pytest.raises(ConfigError, match=f"pid {os.getpid()}"):
                take_domain_lock()


def test_the_robot_of_another_user_holds_the_domain_too(
    holder: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 65534)
    with pytest.raises(ConfigError, match=f"pid {holder.pid}"):
        take_domain_lock()


@pytest.mark.parametrize("content", ["\x1b[2J pwn", "12 \x1b[2J", "", "²"])
def test_a_holder_is_named_by_digits_only(tmp_path: Path, content: str) -> None:
    with take_domain_lock():
        (file,) = tmp_path.iterdir()
        file.write_text(content)
        with pytest.raises(ConfigError, match=r"\(pid unknown\)"):
            take_domain_lock()


def test_a_huge_file_of_a_lock_is_not_read(tmp_path: Path) -> None:
    with take_domain_lock():
        (file,) = tmp_path.iterdir()
        os.truncate(file, 1 << 40)
        with pytest.raises(ConfigError, match="already running"):
            take_domain_lock()


def test_a_pipe_in_place_of_the_lock_is_refused(tmp_path: Path) -> None:
    take_domain_lock().close()
    (file,) = tmp_path.iterdir()
    file.unlink()
    os.mkfifo(file)
    with pytest.raises(ConfigError, match=f"{file}: no regular file"):
        take_domain_lock()


def test_every_user_can_open_a_lock_that_a_user_with_a_strict_umask_has_made(
    tmp_path: Path,
) -> None:
    before = os.umask(0o077)
    try:
        take_domain_lock().close()
    finally:
        os.umask(before)
    (file,) = tmp_path.iterdir()
    assert stat.filemode(file.stat().st_mode) == "-rw-rw-rw-"


def test_a_link_in_place_of_the_lock_is_refused_and_its_target_stays(tmp_path: Path) -> None:
    take_domain_lock().close()
    (file,) = tmp_path.iterdir()
    target = tmp_path / "target"
    target.write_text("kept")
    file.unlink()
    file.symlink_to(target)
    with pytest.raises(ConfigError, match="cannot lock the ROS domain"):
        take_domain_lock()
    assert target.read_text() == "kept"


def test_domains_are_independent(monkeypatch: pytest.MonkeyPatch) -> None:
    with take_domain_lock():
        monkeypatch.setenv("ROS_DOMAIN_ID", "43")
        with take_domain_lock():
            pass


def test_namespaces_of_a_domain_are_independent_and_each_is_exclusive() -> None:
    names = ["", "/left", "/left/arm", "/left_arm", "/control"]
    with ExitStack() as held:
        for name in names:
            for role in ("control", "left", "black_box"):  # a name must not count as a namespace
                held.enter_context(take_domain_lock(role, name))
        for name in names:
            with pytest.raises(ConfigError, match=f"namespace {name} " if name else "domain 42 "):
                take_domain_lock(namespace=name)


@pytest.mark.parametrize("unset", ["", None])
def test_no_domain_is_domain_0(monkeypatch: pytest.MonkeyPatch, unset: str | None) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "0")
    with take_domain_lock():
        if unset is None:
            monkeypatch.delenv("ROS_DOMAIN_ID")
        else:
            monkeypatch.setenv("ROS_DOMAIN_ID", unset)
        with pytest.raises(ConfigError, match="domain 0"):
            take_domain_lock()


def test_without_rights_real_time_is_refused_and_reported() -> None:
    result = subprocess.run(
        [sys.executable, "-c", UNPRIVILEGED], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert "SCHED_FIFO" in result.stdout
    assert "limits.conf" in result.stdout


@pytest.mark.parametrize("domain", ["five", "-1", "1.5"])
def test_a_domain_that_is_no_number_is_refused(
    monkeypatch: pytest.MonkeyPatch, domain: str
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", domain)
    with pytest.raises(ConfigError, match=f"ROS_DOMAIN_ID is '{domain}'"):
        take_domain_lock()
