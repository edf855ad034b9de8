"""Ctrl-C during work that must not be interrupted."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator

import pytest

from humanoid_control_cli.interrupts import Interrupts, importing


def ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


@pytest.fixture
def interrupts() -> Iterator[Interrupts]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    made = Interrupts()
    try:
        with made.installed():
            yield made
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_waits_for_the_end_of_the_block(interrupts: Interrupts) -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), interrupts.held_back():
        ctrl_c()
        done.append("the rest of the block")
    assert done


def test_held_back_interrupt_is_raised_once(interrupts: Interrupts) -> None:
    with pytest.raises(KeyboardInterrupt), interrupts.held_back():
        ctrl_c()
    with interrupts.held_back():
        pass


def test_interrupt_outside_of_a_block_is_raised_at_once(interrupts: Interrupts) -> None:
    with pytest.raises(KeyboardInterrupt):
        ctrl_c()
    with interrupts.held_back():
        pass


def test_second_interrupt_in_a_block_is_raised_at_once(interrupts: Interrupts) -> None:
    with pytest.raises(KeyboardInterrupt), interrupts.held_back():
        ctrl_c()
        ctrl_c()
        pytest.fail("a block that hangs cannot be left")
    with interrupts.held_back():
        pass


def test_the_error_of_a_block_is_not_hidden(interrupts: Interrupts) -> None:
    with pytest.raises(ValueError, match="its own"), interrupts.held_back():
        ctrl_c()
        raise ValueError("its own")


def test_a_handler_of_the_caller_stays() -> None:
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append(True))
    try:
        interrupts = Interrupts()
        with interrupts.installed(), interrupts.held_back():
            ctrl_c()
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == [True]


def test_the_handler_of_python_is_back_afterwards() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with Interrupts().installed():
            assert signal.getsignal(signal.SIGINT) is not signal.default_int_handler
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_interrupts_install_no_handler_in_another_thread() -> None:
    failed: list[BaseException] = []

    def use() -> None:
        try:
            with Interrupts().installed():
                pass
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    thread.join()
    assert not failed


class Lost:
    """Python ignores what is raised while an object of this class is deleted."""

    def __del__(self) -> None:
        # To this thread: one that does not block it would take it.
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)


def test_an_interrupt_that_an_import_would_lose_is_raised_after_it(interrupts: Interrupts) -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), importing():
        Lost()
        done.append("the rest of the block")
    assert done


INTERRUPTED_IMPORT = """
import os, signal, sys

class Lost:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)

class Finder:
    def find_spec(self, name, *_):
        if name == slow:
            Lost()

slow = sys.argv.pop(1)
sys.meta_path.insert(0, Finder())
from humanoid_control_cli.main import main
sys.exit(main())
"""


@pytest.mark.parametrize(
    "words",
    [
        ["up", "mock", "--no-viewer"],
        ["mode", "standby"],
        ["stop"],
        ["down"],
        ["heartbeat", "operator"],
        ["clear-fault"],
        ["move", "left_elbow=0.1"],
        ["play", "."],
        ["teach", "motion"],
        ["friction", "record", "--joint", "left_elbow", "--into", "new.yaml", "--yes"],
        ["friction", "check", __file__, "--yes"],
        ["calibrate", "--joint", "left_elbow", "--duration", "1"],
    ],
    ids=lambda words: " ".join(words[:2]),
)
@pytest.mark.parametrize("module", ["typer", None])
def test_a_command_interrupted_during_its_imports_does_nothing(
    start, words: list[str], module: str | None
) -> None:
    slow = "humanoid_bringup.supervision" if words[0] == "up" else "rclpy"
    run = start(sys.executable, "-c", INTERRUPTED_IMPORT, module or slow, *words)
    assert run.finish() == 130
    assert run.lines == []


INTERRUPTED_END = """
import atexit, os, signal, sys
from humanoid_control_cli.main import main
atexit.register(os.kill, os.getpid(), signal.SIGINT)
sys.exit(main())
"""


def test_an_interrupt_after_the_end_of_a_command_changes_nothing(start) -> None:
    run = start(sys.executable, "-c", INTERRUPTED_END, "version")
    assert run.finish() == 0
    assert not any("KeyboardInterrupt" in line for line in run.lines)
