"""Ctrl-C during work that must not be interrupted."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from humanoid_control_cli.interrupts import Interrupts


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
