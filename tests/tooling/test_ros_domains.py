"""Tests that run at the same time are on different ROS domains."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from test_support.ros import ros_domains
from test_support.ros.ros_domains import on_reserved_domain, reserved_domain

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot import domain_lock
from humanoid_control_common.robot.domain_lock import take_domain_lock

TESTS = Path(__file__).parents[1]
FEW = range(1, 9)
# Reserves domains one after the other, prints them, and keeps them until it is killed.
RESERVES = """
import pathlib, signal, sys
from contextlib import ExitStack
from test_support.ros import ros_domains
from humanoid_control_common.robot import domain_lock
domain_lock.FOLDER = pathlib.Path(sys.argv[1])
ros_domains.DOMAINS = range(1, 9)
held = ExitStack()
sys.stdin.read()
count = int(sys.argv[2])
print([held.enter_context(ros_domains.reserved_domain()) for _ in range(count)], flush=True)
signal.pause()
"""


@pytest.fixture(autouse=True)
def _own_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domain_lock, "FOLDER", tmp_path)
    monkeypatch.setattr(ros_domains, "DOMAINS", FEW)


@contextmanager
def processes(folder: Path, count: int, domains: int) -> Iterator[list[subprocess.Popen[str]]]:
    """Start processes that reserve `domains` each, at the same time."""
    with ExitStack() as ends:
        command = [sys.executable, "-c", RESERVES, str(folder), str(domains)]
        started = []
        for _ in range(count):
            process = subprocess.Popen(
                command, cwd=TESTS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            started.append(ends.enter_context(process))
            ends.callback(process.kill)
        for process in started:
            assert process.stdin is not None
            process.stdin.close()
        yield started


def printed(process: subprocess.Popen[str]) -> list[int]:
    assert process.stdout is not None
    return [int(word) for word in process.stdout.readline().strip("[]\n").split(",")]


def test_processes_that_reserve_at_once_never_get_the_same_domain(tmp_path: Path) -> None:
    with processes(tmp_path, count=4, domains=2) as started:
        found = [domain for process in started for domain in printed(process)]
        assert sorted(found) == list(FEW)


def test_the_domains_of_a_killed_process_are_free_again(tmp_path: Path) -> None:
    with processes(tmp_path, count=1, domains=len(FEW)) as (process,):
        printed(process)
        with pytest.raises(ConfigError, match="on all ROS domains"), reserved_domain():
            pass
        process.send_signal(signal.SIGKILL)
        process.wait()
        with reserved_domain() as domain:
            assert domain in FEW


def test_a_domain_is_free_again_after_its_context() -> None:
    for _ in range(2):
        with ExitStack() as held:
            found = [held.enter_context(reserved_domain()) for _ in FEW]
        assert sorted(found) == list(FEW)


def test_a_program_that_a_test_starts_does_not_hold_its_domain() -> None:
    with ExitStack() as held:
        for _ in FEW:
            held.enter_context(reserved_domain())
        outlives = subprocess.Popen(["sleep", "60"], close_fds=False)
    try:
        with reserved_domain():
            pass
    finally:
        outlives.kill()
        outlives.wait()


def test_a_domain_with_a_robot_is_not_reserved() -> None:
    *occupied, free = FEW
    with ExitStack() as robots, pytest.MonkeyPatch.context() as patch:
        for domain in occupied:
            patch.setenv("ROS_DOMAIN_ID", str(domain))
            robots.enter_context(take_domain_lock())
        with reserved_domain() as found:
            assert found == free


def test_test_runs_on_a_reserved_domain_and_the_environment_is_restored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "99")
    monkeypatch.delenv("ROS_AUTOMATIC_DISCOVERY_RANGE", raising=False)
    with on_reserved_domain() as domain:
        assert os.environ["ROS_DOMAIN_ID"] == str(domain)
        assert os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] == "LOCALHOST"
    assert os.environ["ROS_DOMAIN_ID"] == "99"
    assert "ROS_AUTOMATIC_DISCOVERY_RANGE" not in os.environ
