"""Signals that stop a process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from threading import Event

import pytest

from humanoid_control_common.machine.stop_signals import (
    STOP_SIGNALS,
    ignore_stop_signals,
    stop_after_others,
    stop_on_signals,
)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Restore the signal handlers after the test."""
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("handled", [stop_on_signals, stop_after_others])
@pytest.mark.parametrize("number", STOP_SIGNALS, ids=lambda number: number.name)
def test_repeated_stop_signals_set_the_stop_event(
    number: signal.Signals, handled: Callable[[], Event]
) -> None:
    stop = handled()
    assert not stop.is_set()
    for _ in range(3):
        os.kill(os.getpid(), number)
    assert stop.is_set()


def test_an_interrupt_that_was_ignored_stops_a_process_that_no_other_needs() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stop = stop_on_signals()
    os.kill(os.getpid(), signal.SIGINT)
    assert stop.is_set()


def test_an_interrupt_that_was_ignored_does_not_stop_one_that_others_need_but_sigterm_does() -> (
    None
):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stop = stop_after_others()
    os.kill(os.getpid(), signal.SIGINT)
    assert not stop.is_set()
    os.kill(os.getpid(), signal.SIGTERM)
    assert stop.is_set()


def test_signals_that_are_repeated_while_a_process_ends_do_not_kill_it() -> None:
    """Python restores the default of handled signals at its end, but not of ignored ones."""
    stop_on_signals()
    ignore_stop_signals()
    assert {signal.getsignal(number) for number in STOP_SIGNALS} == {signal.SIG_IGN}


# Sends a signal at every line that `wait` executes, and at every line of the handler.
PROGRAM = """
import os, signal, sys
from humanoid_control_common.machine.stop_signals import stop_on_signals

def trace(frame, event, argument):
    if event == "line":
        os.kill(os.getpid(), signal.SIGTERM)
    return trace

stop = stop_on_signals()
sys.settrace(trace)
stop.wait(0.01)
sys.settrace(None)
assert stop.wait(0.0)
"""


def test_a_signal_may_come_at_any_moment_of_the_wait_for_it() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=30.0)
