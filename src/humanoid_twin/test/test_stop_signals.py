"""The signals that end a process of the virtual robot."""

from __future__ import annotations

import os
import select
import signal
from contextlib import ExitStack

import pytest

from humanoid_twin.twin_process import stop_signals


@pytest.mark.parametrize(
    ("ignore_interrupt", "number", "asked"),
    [
        (False, signal.SIGINT, True),
        (False, signal.SIGTERM, True),
        (True, signal.SIGINT, False),
        (True, signal.SIGTERM, True),
    ],
)
def test_ctrl_c_can_be_left_to_the_users_of_the_robot(
    ignore_interrupt: bool, number: signal.Signals, asked: bool
) -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with ExitStack() as cleanup:
        descriptor = stop_signals(cleanup, ignore_interrupt=ignore_interrupt)
        os.kill(os.getpid(), number)
        readable, _, _ = select.select([descriptor], [], [], 0.0)
        assert bool(readable) is asked
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
