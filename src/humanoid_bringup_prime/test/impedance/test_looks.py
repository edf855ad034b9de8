"""When a statement makes the impedance manager look for batches to send."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from humanoid_bringup_prime.impedance.manager import AUDIT_PERIOD
from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.impedance.values import ModeInForce


def asks(bench: Any) -> bool:
    """Repeat the statement; return whether the manager asks for a look."""
    return bool(bench.manager.stated(bench.in_force, bench.time))


def test_a_repeated_statement_asks_for_a_look_until_all_drives_hold_the_gains(bench: Any) -> None:
    bench.state(Mode.DAMPING)
    assert asks(bench)
    bench.run(0.1)
    assert bench.confirmed
    assert not asks(bench)
    bench.drives[3].dead = True
    bench.state(Mode.STANDBY).run(0.5)
    assert not bench.confirmed
    assert asks(bench)
    bench.drives[3].dead = False
    bench.run(0.5)
    assert bench.confirmed
    assert not asks(bench)


def test_a_new_statement_asks_for_a_look_even_with_the_same_gains(bench: Any) -> None:
    bench.enter(Mode.STANDBY)
    assert bench.manager.stated(ModeInForce(Mode.REMOTE, 77), bench.time)


def interrupt(bench: Any) -> None:
    bench.flowing = False
    bench.run(0.15)


def withdraw_services(bench: Any) -> None:
    bench.obstacle = "no services"
    bench.run(0.001)


def begin_reading(bench: Any) -> None:
    bench.answering = False
    bench.run(AUDIT_PERIOD)


@pytest.mark.parametrize("event", [interrupt, withdraw_services, begin_reading])
def test_repeated_statement_asks_for_a_look_after_interruptions_and_in_readings(
    bench: Any, event: Callable[[Any], None]
) -> None:
    bench.enter(Mode.DAMPING)
    assert not asks(bench)
    event(bench)
    assert asks(bench)


def test_a_reading_that_failed_is_pending_although_the_gains_are_confirmed(bench: Any) -> None:
    bench.enter(Mode.DAMPING)
    bench.drives[3].dead = True
    while bench.running or not bench.sent:
        bench.run(0.001)
    bench.run(0.002)  # the manager looks again, and waits before it reads again
    assert bench.running == []
    assert bench.confirmed
    assert asks(bench)
