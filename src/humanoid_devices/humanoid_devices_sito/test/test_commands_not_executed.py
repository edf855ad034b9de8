"""A motor whose effort is not what its commands ask for is a fault of its bus."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel, SafetyReport
from humanoid_devices_can.effort_check import DELAY, INTERVAL, WINDOW
from humanoid_devices_can.reason_codes import COMMANDS_NOT_EXECUTED
from humanoid_devices_can.timing import Timing
from humanoid_devices_sito.sito_system import SitoSystem
from src.humanoid_devices.test.can_bench import CanBench, CanRig, MakeBench, MakeInfo, MakeRig

IDS = [22, 23, 38, 39]
DEAF = 38
TICK = 0.02  # [s] of the loop
LATEST = 2 * WINDOW + DELAY + 2 * INTERVAL  # [s] until it is reported
MakeWrists = Callable[..., tuple[CanBench, CanRig]]


@pytest.fixture
def wrists(can_bench: MakeBench, can_info: MakeInfo, can_rig: MakeRig) -> MakeWrists:
    """The four wrists, enabled and stiff: (bench, rig)."""

    def make(**info: object) -> tuple[CanBench, CanRig]:
        bench = can_bench("sito", "TA40-50", IDS)
        block = can_info(IDS, "TA40-50", channel=bench.address, **info)
        rig = can_rig(SitoSystem(Timing(), bench.host), block, bench.time)
        rig.activate()
        rig.command.stiffness[:], rig.command.damping[:] = 20.0, 2.0
        assert rig.run(1.0).level is SafetyLevel.OK
        return bench, rig

    return make


def is_found(report: SafetyReport) -> bool:
    return COMMANDS_NOT_EXECUTED.name in report.codes


def found_after(rig: CanRig) -> float:
    """Return the time [s] until the fault is reported."""
    assert rig.time is not None
    begun = rig.time.clock()
    report = rig.until(is_found)
    assert report.level is SafetyLevel.FAULT
    assert report.flags & SafetyFlag.MOTOR_FAULT
    assert "j2 (id 38)" in report.message
    assert "j1" not in report.message
    return rig.time.clock() - begun


def test_a_motor_that_ignores_a_new_target_is_found(wrists: MakeWrists) -> None:
    bench, rig = wrists()
    bench.call("ignore_frames", DEAF)
    rig.command.position[:] = 0.2  # 4 Nm at first
    assert WINDOW < found_after(rig) < LATEST


def test_a_motor_that_stays_stiff_in_damping_is_found_when_it_is_pushed(wrists: MakeWrists) -> None:
    bench, rig = wrists()
    bench.call("ignore_frames", DEAF)
    rig.command.stiffness[:] = 0.0
    assert rig.run(3.0).level is SafetyLevel.OK  # it holds its place, without effort
    bench.plant.set_external_torque(IDS.index(DEAF), 1.5)
    assert found_after(rig) < LATEST


def test_a_motor_that_gives_no_torque_is_found(wrists: MakeWrists) -> None:
    bench, rig = wrists()
    rig.command.stiffness[:] = 0.0
    rig.run(1.0)
    bench.call("ignore_frames", DEAF)
    rig.command.stiffness[:] = 20.0
    bench.plant.set_external_torque(IDS.index(DEAF), 2.5)
    assert found_after(rig) < LATEST


def test_the_fault_ends_when_the_motor_obeys_again(wrists: MakeWrists) -> None:
    bench, rig = wrists()
    bench.call("ignore_frames", DEAF)
    rig.command.position[:] = 0.2
    rig.until(is_found)
    bench.call("ignore_frames", DEAF, False)
    assert rig.run(0.5).level is SafetyLevel.OK


def test_clearing_the_fault_enables_the_motor_anew(wrists: MakeWrists) -> None:
    bench, rig = wrists()
    bench.call("ignore_frames", DEAF)
    rig.command.position[:] = 0.2
    rig.until(is_found)
    rig.system.reset_faults()
    report = rig.until(lambda report: "not enabled again" in report.message)
    assert "j2 (id 38)" in report.message  # it does not obey the order to disable itself
    bench.call("ignore_frames", DEAF, False)
    rig.system.reset_faults()
    rig.until(lambda report: report.level is SafetyLevel.OK)
    assert bench.drive(DEAF)["firmware"]["enabled"]


def test_a_motor_that_waits_for_others_to_be_enabled_is_no_fault(wrists: MakeWrists) -> None:
    """It is enabled, but kept without torque meanwhile."""
    bench, rig = wrists()
    slow = IDS[-1]
    for id_ in (DEAF, slow):
        bench.call("power_off", id_)
    rig.until(lambda report: report.flags & SafetyFlag.RX_TIMEOUT)
    for id_ in (DEAF, slow):
        bench.call("power_on", id_)
    bench.call("delay_enable", slow, 10.0)
    rig.command.position[:] = 0.2
    rig.system.reset_faults()
    reports = [rig.tick() for _ in range(140) if rig.pause(TICK) is None]
    assert "being enabled" in reports[-1].message
    assert bench.drive(DEAF)["firmware"]["enabled"]
    assert not any(map(is_found, reports))


@pytest.mark.parametrize("rate", [20.0, 50.0, 200.0, 400.0])
def test_motors_that_obey_stay_far_within_the_tolerance(wrists: MakeWrists, rate: float) -> None:
    """All joints swing, are pushed, and get other gains."""
    bench, rig = wrists(update_rate=rate)
    efforts = rig.system._monitor.efforts
    for step in range(int(8 * rate)):
        time = step / rate
        rig.command.position[:] = 0.4 * math.sin(4.0 * time)
        rig.command.velocity[:] = 1.6 * math.cos(4.0 * time)
        rig.command.stiffness[:] = 20.0 if time % 2.0 < 1.0 else 0.0
        for joint in range(len(IDS)):
            bench.plant.set_external_torque(joint, 2.0 * math.sin(5.0 * time + joint))
        assert not is_found(rig.tick())
        rig.pause(1.0 / rate)
    assert np.all(efforts.largest < 0.25 * efforts.tolerance)


def test_lost_frames_with_gains_are_no_fault(wrists: MakeWrists) -> None:
    """If their repetitions are lost, too, the gains are sent again half a second later."""
    bench, rig = wrists()
    rig.command.stiffness[:], rig.command.damping[:] = 0.0, 0.0
    rig.run(1.0)
    rig.command.position[:] = 0.4
    rig.command.stiffness[:] = 20.0
    bench.call("drop", 1.0)
    rig.run(Timing().gains_insistence)
    bench.call("drop", 0.0)
    assert rig.run(3.0).level is SafetyLevel.OK
    assert bench.drive(DEAF)["firmware"]["stiffness"] == pytest.approx(20.0)


def test_tolerance_of_a_joint_can_be_set(wrists: MakeWrists) -> None:
    bench, rig = wrists(joint={"effort_tolerance": "3.0"})
    bench.call("ignore_frames", DEAF)
    rig.command.stiffness[:] = 0.0
    bench.plant.set_external_torque(IDS.index(DEAF), 2.5)
    assert rig.run(4.0).level is SafetyLevel.OK
    assert rig.system._monitor.efforts.largest[IDS.index(DEAF)] == pytest.approx(2.5, rel=0.05)
    bench.plant.set_external_torque(IDS.index(DEAF), 3.5)
    assert found_after(rig) < LATEST


@pytest.mark.parametrize("value", ["0", "-1", "much", "nan", "45"])
def test_an_impossible_tolerance_is_refused(
    can_bench: MakeBench, can_info: MakeInfo, can_rig: MakeRig, value: str
) -> None:
    bench = can_bench("sito", "TA40-50", IDS)
    info = can_info(IDS, "TA40-50", channel=bench.address, joint={"effort_tolerance": value})
    with pytest.raises(ConfigError, match=r"joint 'j0': effort_tolerance"):
        can_rig(SitoSystem(Timing(), bench.host), info, bench.time)
