"""The thread of the bring-up: results and errors of `start`, and the limit of `stop`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.machine.linux import LINUX, LinuxMachine
from humanoid_control_common.machine.machine import Thread
from humanoid_devices_erob.bring_up.bringup_thread import BringUpThread
from humanoid_devices_erob.erob_system import ErobSystem


class Hanging:
    """A bring-up that ignores the order to stop until it is released."""

    def __init__(self) -> None:
        self.begun, self.released = threading.Event(), threading.Event()

    def run(self):
        self.begun.set()
        self.released.wait()
        raise HardwareError("released")


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    bring_up = Hanging()
    yield bring_up
    bring_up.released.set()


def started(bring_up: Hanging) -> tuple[BringUpThread, threading.Thread]:
    """A thread in its bring-up, and one that waits for it as the main thread does."""
    thread = BringUpThread(bring_up.run, threading.Event(), LINUX)

    def start() -> None:
        thread.begin()
        with pytest.raises(HardwareError, match="released"):
            thread.result()

    waiting = threading.Thread(target=start, daemon=True)
    waiting.start()
    bring_up.begun.wait()
    return thread, waiting


def test_a_bring_up_that_hangs_is_waited_for_no_longer_than_the_limit(hanging: Hanging) -> None:
    thread, _ = started(hanging)
    with pytest.raises(HardwareError, match=r"not ended within 0.01 s: .*switch the power") as got:
        thread.stop(limit=0.01)
    assert "armed" in str(got.value)


class Interrupted(LinuxMachine):
    """Ctrl-C comes while `bring_up` has begun and `begin` has not returned."""

    def __init__(self, bring_up: Hanging) -> None:
        self._bring_up = bring_up

    def start(self, name: str, run: Callable[[], None]) -> Thread:
        super().start(name, run)
        self._bring_up.begun.wait()
        raise KeyboardInterrupt


def test_a_bring_up_is_waited_for_if_an_interrupt_comes_as_its_thread_starts(
    hanging: Hanging,
) -> None:
    thread = BringUpThread(hanging.run, threading.Event(), Interrupted(hanging))
    with pytest.raises(KeyboardInterrupt):
        thread.begin()
    with pytest.raises(HardwareError, match=r"not ended within 0.01 s"):
        thread.stop(limit=0.01)


class Threadless(LinuxMachine):
    """No thread can be started."""

    def start(self, name: str, run: Callable[[], None]) -> Thread:
        raise RuntimeError("can't start new thread")


def test_stop_returns_at_once_if_no_thread_was_started(hanging: Hanging) -> None:
    thread = BringUpThread(hanging.run, threading.Event(), Threadless())
    with pytest.raises(RuntimeError):
        thread.begin()
    assert thread.stop(limit=0.01) is None


def test_a_bring_up_that_ends_in_time_leaves_no_ring(hanging: Hanging) -> None:
    thread, waiting = started(hanging)
    hanging.released.set()
    assert thread.stop() is None
    waiting.join()


def test_deactivation_during_a_bring_up_that_hangs_reports_that_drives_may_be_enabled(
    hanging: Hanging, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = ErobSystem()
    system._bring_up_thread, _ = started(hanging)
    stop = system._bring_up_thread.stop
    monkeypatch.setattr(system._bring_up_thread, "stop", lambda: stop(limit=0.01))
    with pytest.raises(HardwareError, match="may be enabled or armed"):
        system.on_deactivate()
