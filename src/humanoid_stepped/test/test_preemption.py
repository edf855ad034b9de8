"""Tasks that are interrupted between any two statements."""

from __future__ import annotations

import builtins
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest
from fault_campaign.stepped.reverted_mends import BY_INTERRUPTIONS

import humanoid_control_common
from humanoid_stepped import preemption
from humanoid_stepped.preemption import Preemption, instrument, is_instrumented
from humanoid_stepped.scheduler import Process
from src.humanoid_stepped.test.test_scheduler import scheduler as new_scheduler

COUNTER = '''
"""A counter that two tasks share."""
import threading
from threading import Lock

class Counter:
    """Without the lock it loses counts."""
    step = 1

    def __init__(self):
        self.count, self._lock, self._other = 0, threading.Lock(), Lock()

    def bare(self):
        for _ in range(2000):
            before = self.count
            after = before + self.step
            self.count = after

    def locked(self):
        for _ in range(2000):
            with self._lock, self._other:
                before = self.count
                self.count = before + self.step
'''


@pytest.fixture
def counters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A module of the product, imported after `instrument`."""
    (tmp_path / "shared_counter.py").write_text(COUNTER)
    monkeypatch.syspath_prepend(str(tmp_path))
    finders = list(sys.meta_path)
    instrument(lambda name: name == "shared_counter")
    try:
        yield import_module("shared_counter")
    finally:
        sys.meta_path[:] = finders
        sys.modules.pop("shared_counter", None)
        delattr(builtins, preemption._CALL)


def counted(module: ModuleType, method: str, seed: str, *, interrupted: bool = True) -> int:
    """Return the count of two tasks."""
    scheduler = new_scheduler()
    if interrupted:
        Preemption(scheduler).seed(seed)
    counter, process = module.Counter(), Process("counting")
    for name in ("one", "two"):
        scheduler.start(process, name, getattr(counter, method))
    scheduler.run_for(10.0)
    assert not scheduler.tasks
    assert not scheduler.failed
    count: int = counter.count
    return count


def test_an_interrupted_task_loses_what_another_one_wrote(counters: ModuleType) -> None:
    assert counted(counters, "bare", "1", interrupted=False) == 4000
    assert counted(counters, "bare", "1") < 4000


def test_the_seed_decides_where(counters: ModuleType) -> None:
    assert counted(counters, "bare", "1") == counted(counters, "bare", "1")
    assert len({counted(counters, "bare", str(seed)) for seed in range(10)}) > 1


def test_a_task_waits_for_a_lock_that_an_interrupted_one_holds(counters: ModuleType) -> None:
    for seed in range(10):
        assert counted(counters, "locked", str(seed)) == 4000


def test_a_lock_of_an_interrupted_task_is_not_had_between_two_tasks(counters: ModuleType) -> None:
    lock = counters.Lock()
    assert lock.acquire()
    assert lock.locked()
    assert not lock.acquire(blocking=False)
    with pytest.raises(RuntimeError, match="a task that was interrupted holds this lock"):
        lock.acquire()
    lock.release()
    with pytest.raises(RuntimeError, match="release unlocked lock"):
        lock.release()


@pytest.mark.parametrize(
    "package", ["humanoid_twin", "humanoid_stepped", "humanoid_control_msgs", "numpy"]
)
def test_packages_that_do_not_run_on_the_robot_are_not_interrupted(package: str) -> None:
    assert not preemption.is_product(package)


def test_instrumentation_refuses_packages_that_are_already_imported() -> None:
    assert preemption.is_product(humanoid_control_common.__name__)
    with pytest.raises(RuntimeError, match=r"already imported, so not interrupted: .*humanoid_con"):
        instrument()
    assert not is_instrumented()


def faults(*words: str) -> subprocess.CompletedProcess[str]:
    """Run `make faults` on the stepped robot with interruptions."""
    command = [sys.executable, "-m", "fault_campaign", "--stepped", "--preempt", *words]
    tests = Path(__file__).parents[3] / "tests"
    return subprocess.run(command, cwd=tests, capture_output=True, text=True, check=False)


def test_the_campaign_holds_while_threads_are_interrupted_and_repeats_itself() -> None:
    """One trial of some kinds each, twice: figures and lines are equal."""
    found = [faults("--kind", "process:", "--seed", "1", "--count", "8") for _ in range(2)]
    assert [it.returncode for it in found] == [0, 0], found[0].stdout + found[0].stderr
    assert found[0].stdout == found[1].stdout
    assert "0 of 8 trials violated a demand" in found[0].stdout


def test_an_interrupted_trial_with_files_is_the_same_as_without(tmp_path: Path) -> None:
    words = ["--kind", "ring: frames lost while gains are written", "--trial", "193411804"]
    found = [faults(*words), faults(*words, "--trace", str(tmp_path / "files"))]
    assert [it.returncode for it in found] == [0, 0], found[1].stdout + found[1].stderr
    assert found[0].stdout == found[1].stdout


@pytest.mark.soak  # one of about 130 trials finds it
@pytest.mark.parametrize("mend", BY_INTERRUPTIONS)
def test_interruptions_find_what_an_order_of_whole_turns_does_not(mend: str) -> None:
    found = faults("--revert", mend, "--kind", "controller:", "--seed", "1", "--count", "1000")
    assert found.returncode == 1
    assert "VIOLATION" in found.stdout
