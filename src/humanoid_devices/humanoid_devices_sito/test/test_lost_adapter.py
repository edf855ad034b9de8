"""An adapter that is lost while the motors are stiff, and the reaction of the guard."""

from __future__ import annotations

from contextlib import suppress

import pytest

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel
from humanoid_devices_can.bus.bus import Bus
from humanoid_devices_can.guard.channel import Stage
from src.humanoid_devices.humanoid_devices_sito.test.test_exit import (
    IDS,
    FullQueueBus,
    Stiff,
    cut,
    enabled,
    end,
    forget,
    stiff,
)
from src.humanoid_devices.test.can_bench import CanBench, CanRig

__all__ = ["stiff"]
NAMES = "j0 (id 22), j1 (id 23), j2 (id 38), j3 (id 39)"


def unplug(bench: CanBench, rig: CanRig, seconds: float) -> None:
    """Unplug the adapter for a time [s] while the loop runs."""
    bench.call("unplug")
    report = rig.run(seconds)
    assert report.flags & SafetyFlag.BUS_OFF
    assert "the adapter is gone" in report.message
    assert "by the guard" not in report.message
    assert enabled(bench) == IDS
    bench.call("plug_in")


@pytest.mark.parametrize("seconds", [0.1, 1.0, 10.0])
def test_an_adapter_that_comes_back_finds_no_command_so_the_guard_disables_the_motors(
    stiff: Stiff, seconds: float
) -> None:
    bench, rig = stiff()
    unplug(bench, rig, seconds)
    report = rig.run(1.0)
    assert enabled(bench) == []
    assert report.level is SafetyLevel.FAULT
    assert f"{NAMES}: disabled by the guard: " in report.message
    assert "the adapter is gone" in report.message
    rig.system.reset_faults()
    rig.until(lambda report: report.level is SafetyLevel.OK)
    assert enabled(bench) == IDS
    bench.hold_up(1.0)  # the new guard watches
    assert enabled(bench) == []
    end(rig)


def test_exit_accepts_the_proof_of_the_guard_after_a_lost_adapter(stiff: Stiff) -> None:
    bench, rig = stiff()
    unplug(bench, rig, 1.0)
    rig.run(1.0)
    end(rig)
    assert enabled(bench) == []


def test_a_motor_that_is_not_there_when_the_adapter_is_back_may_be_enabled(stiff: Stiff) -> None:
    bench, rig = stiff()
    cut(bench, 39)
    unplug(bench, rig, 1.0)
    report = rig.run(1.0)
    assert "j3 (id 39): silent before, may be enabled" in report.message
    assert enabled(bench) == [39]
    with pytest.raises(HardwareError, match=r"disabled: j3 \(id 39\): was silent before"):
        end(rig)


def test_an_adapter_that_is_back_before_the_guard_acts_changes_nothing(stiff: Stiff) -> None:
    bench, rig = stiff()
    bench.call("unplug")
    rig.run(0.04)
    bench.call("plug_in")
    rig.system.reset_faults()
    rig.until(lambda report: report.level is SafetyLevel.OK)
    assert enabled(bench) == IDS
    end(rig)


def test_a_clear_fault_that_fails_leaves_a_guard_that_tries_on(stiff: Stiff) -> None:
    bench, rig = stiff()
    bench.call("unplug")
    rig.run(1.0)
    rig.system.reset_faults()
    rig.until(lambda report: "not enabled again" in report.message)
    bench.call("plug_in")
    rig.run(1.0)
    assert enabled(bench) == []
    end(rig)


def test_an_adapter_that_is_back_after_the_loops_end_finds_the_guard(stiff: Stiff) -> None:
    bench, rig = stiff()
    bench.call("unplug")
    rig.run(0.3)
    rig.call(rig.system.loop_ended)
    bench.call("plug_in")
    rig.pause(1.0)
    assert enabled(bench) == []
    rig.deactivate()


def test_an_adapter_that_receives_nothing_is_no_reason_for_the_guard_while_it_sends(
    stiff: Stiff,
) -> None:
    """The motors obey DAMPING, which is better than no torque."""
    opened: list[FullQueueBus] = []

    def wrap(bus: Bus, bench: CanBench) -> Bus:
        opened.append(FullQueueBus(bus))
        return opened[-1]

    bench, rig = stiff(wrap)
    opened[0].receives_nothing, opened[0].attempts = True, 1
    rig.command.stiffness[:] = 0.0
    rig.run(2.0)
    assert rig.system._lifecycle.guard.stage is Stage.WATCHES
    assert enabled(bench) == IDS
    assert {bench.drive(id_)["firmware"]["stiffness"] for id_ in IDS} == {0.0}
    with suppress(HardwareError):
        end(rig)


def test_a_process_that_is_killed_while_it_opens_the_bus_again_leaves_no_motor_enabled(
    stiff: Stiff,
) -> None:
    for milliseconds in range(0, 200, 10):
        bench, rig = stiff()
        bench.call("bus_off")
        rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
        assert enabled(bench) == IDS
        rig.system.reset_faults()
        rig.pause(milliseconds / 1000.0)
        assert bench.time is not None
        bench.time.process.killed = True
        bench.time.pass_(5.0)
        assert enabled(bench) == [], milliseconds
        bench.time.process.killed = False
        forget(rig)
