"""Requests to end a control process."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator

import pytest

from humanoid_control_common.ending_times import AGAIN
from humanoid_control_common.machine.stop_signals import STOP_SIGNALS
from humanoid_controller_manager.ros.process.companion import Companion, way_down_of
from humanoid_controller_manager.ros.process.end_requests import (
    CallbackNotEndingError,
    EndRequests,
    end_on_signals,
)


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Restore the signal handlers after the test."""
    before = {number: signal.getsignal(number) for number in STOP_SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("before", [signal.SIG_DFL, signal.SIG_IGN])
def test_an_interrupt_asks_for_an_end_in_order_and_sigterm_for_one_at_once(before: object) -> None:
    signal.signal(signal.SIGINT, before)  # type: ignore[arg-type]
    end = end_on_signals()
    os.kill(os.getpid(), signal.SIGINT)
    assert end == EndRequests(in_order=True)
    os.kill(os.getpid(), signal.SIGTERM)
    assert end.at_once


def test_a_second_interrupt_ends_at_once_unless_it_repeats_the_first_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    end = end_on_signals()
    os.kill(os.getpid(), signal.SIGINT)
    now += 0.9 * AGAIN
    os.kill(os.getpid(), signal.SIGINT)
    assert end == EndRequests(in_order=True)
    now += 0.2 * AGAIN
    os.kill(os.getpid(), signal.SIGINT)
    assert end.at_once


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_interrupts_a_callback_that_holds_up_all_others(number: int) -> None:
    end = end_on_signals()
    end.held_up = lambda: True
    with pytest.raises(CallbackNotEndingError):
        os.kill(os.getpid(), number)
    assert end.in_order or end.at_once


class Beside(Companion):
    """Takes nothing on."""

    def changed(self) -> None:
        """Nothing to do."""


class Leading(Beside):
    """Leads down."""

    def __init__(self, asked: list[str]) -> None:
        self.asked = asked

    def lead_down(self) -> None:
        self.asked.append("led down")


def test_an_end_in_order_is_led_by_the_companion_that_can() -> None:
    end = EndRequests()
    asked: list[str] = []
    way_down_of([Beside(), Leading(asked)], end)()
    assert asked == ["led down"]
    assert not end.at_once, "it says itself when it is done"


def test_without_a_way_down_an_ordered_end_is_immediate() -> None:
    end = EndRequests()
    way_down_of([Beside()], end)()
    assert end.at_once
