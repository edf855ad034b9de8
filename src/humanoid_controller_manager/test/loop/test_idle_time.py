"""The component that owns the time between two ticks: order, deadlines, phase, failures."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from humanoid_control_common.errors import ConfigError, HardwareError
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_controller_manager.loop.loop_thread import LoopThread

TIMEOUT = 60.0  # [s] limit of the wait for the other thread


def _log_calls(name: str, component: Any, log: list[str]) -> None:
    original = component._called

    def called(method: str) -> None:
        log.append(f"{name}.{method}")
        original(method)

    component._called = called


@pytest.mark.parametrize("ring_first", [True, False])
def test_owner_of_the_idle_time_is_activated_last_and_deactivated_first(
    rig: Any, scripted_hardware: Any, cycling_hardware: Any, ring_first: bool
) -> None:
    log: list[str] = []
    ring, slow = cycling_hardware(), scripted_hardware()
    blocks = {"ring": (ring, ("a",)), "slow": (slow, ("b",))}
    robot = rig(blocks if ring_first else dict(reversed(blocks.items())))
    _log_calls("ring", ring, log)
    _log_calls("slow", slow, log)
    robot.start("damped")
    robot.loop.stop()
    lifecycle = [entry for entry in log if "activate" in entry]
    assert lifecycle == [
        "slow.on_activate",
        "ring.on_activate",
        "ring.on_deactivate",
        "slow.on_deactivate",
    ]


def test_states_keep_their_rows_whatever_the_order(
    rig: Any, scripted_hardware: Any, cycling_hardware: Any
) -> None:
    robot = rig(
        {"ring": (cycling_hardware(0.1), ("b",)), "slow": (scripted_hardware(0.2), ("a",))},
        joints=("a", "b"),
    )
    assert robot.start("damped").loop.snapshot.state.position.tolist() == [0.2, 0.1]


def test_two_owners_are_refused(rig: Any, cycling_hardware: Any) -> None:
    with pytest.raises(ConfigError, match="left, right"):
        rig({"left": (cycling_hardware(), ("a",)), "right": (cycling_hardware(), ("b",))})


def test_owner_of_the_idle_time_gets_the_time_until_the_next_tick(
    rig: Any, cycling_hardware: Any
) -> None:
    ring = cycling_hardware()
    robot = rig({"ring": (ring, ("a",))})
    ticked = threading.Event()
    runner = LoopThread(robot.loop, 1000.0, lambda s: ticked.set() if s.tick >= 20 else None)
    ring.correction = 0.5e-3  # so every period is 1.5 times as long
    begun = time.perf_counter()
    runner.start("damped")
    assert ticked.wait(TIMEOUT)
    runner.stop()
    # One wait before the first tick, without a correction; this is the shortest distance of
    # deadlines.
    gaps = [b - a for a, b in zip(ring.deadlines[1:], ring.deadlines[2:], strict=False)]
    assert ring.deadlines[0] >= begun
    assert min(gaps) == pytest.approx(1.5e-3, abs=1e-9)


def test_a_failure_between_ticks_is_a_fault_and_the_loop_goes_on(
    rig: Any, cycling_hardware: Any
) -> None:
    ring = cycling_hardware()
    robot = rig({"ring": (ring, ("a",))})
    robot.start("damped")
    ring.fail["idle_until"] = HardwareError("cable pulled")
    robot.group.idle_until(0.0)
    report = robot.tick().reports[0]
    assert (report.level, report.message) == (SafetyLevel.FAULT, "idle_until failed: cable pulled")
    ring.fail.clear()
    robot.group.idle_until(0.0)
    assert robot.tick().reports[0].level is SafetyLevel.OK


def test_without_an_owner_ticks_are_not_moved(rig: Any) -> None:
    assert rig().group.tick_correction() == 0.0
