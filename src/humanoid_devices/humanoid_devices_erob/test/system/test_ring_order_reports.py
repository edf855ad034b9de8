"""A ring in another order than the joints: what is reported of a joint is that of its drive."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest

from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.drive.gains import Registers
from humanoid_devices_erob.mailbox.sdo import SdoObject
from humanoid_devices_erob.operation.recovery import TIMEOUT as RECOVERY_TIMEOUT
from humanoid_devices_erob.protocol.objects import VELOCITY_GAIN

if TYPE_CHECKING:
    from src.humanoid_devices.humanoid_devices_erob.test.system.conftest import Bench

AT = [2, 0, 3, 1]  # the drive of each joint; its inverse is another order
COUNT = len(AT)
FIRST = 2  # of the diagnoses, that of a joint


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    """Four drives at `AT`, active."""
    bench = make_bench(COUNT)
    bench.new_system(positions=AT)
    bench.activate()
    bench.tick(3)
    return bench


def shown(bench: Bench, value: str) -> list[str]:
    """Return a value in the diagnosis of each joint."""
    return [it.values[value] for it in bench.system.diagnose()[FIRST:]]


def velocity_gain(bench: Bench, joint: int, value: int) -> None:
    bench.write(SdoObject(AT[joint], *VELOCITY_GAIN, value.to_bytes(4, "little")))


@pytest.mark.parametrize("joint", range(COUNT))
def test_speed_and_torque_are_those_of_the_joint(bench: Bench, joint: int) -> None:
    bench.control.external_torque(AT[joint], 33.5)  # a stiff drive gives way
    bench.tick(6)
    assert np.flatnonzero(np.abs(bench.state.velocity) > 0.1).tolist() == [joint]
    assert np.flatnonzero(np.abs(bench.state.effort) > 1.0).tolist() == [joint]


def test_the_drive_of_every_joint_has_its_own_statusword(bench: Bench) -> None:
    for joint in range(COUNT):
        bench.control.drive_error(AT[joint], 0x8500)
        bench.tick(6)
        faulty = [index for index in range(COUNT) if index <= joint]
        names = bench.system.counter_names
        counts = dict(zip(names, bench.system.bus_counts(), strict=True))
        words = [counts[f"statusword of j{index}"] for index in range(COUNT)]
        assert [index for index, word in enumerate(words) if word & 0x08] == faulty
        assert shown(bench, "statusword") == [f"{word} (0x{word:04X})" for word in words]


def test_registers_are_shown_and_confirmed_by_joint(bench: Bench) -> None:
    bench.enter(Mode.STANDBY, 1, 20.0, 2.0)
    gains = [20, 21, 22, 23]  # of j0 to j3
    for joint, gain in enumerate(gains):
        velocity_gain(bench, joint, gain)
    assert shown(bench, "vel_reg") == [str(gain) for gain in gains]
    names = ("j1", "j3", "j2", "j0")
    reported = [gains[int(name[1])] for name in names]
    registers = Registers(np.full(COUNT, 515), np.array(reported), np.zeros(COUNT, int))
    bench.state_impedance(registers, joint_names=names)
    assert bench.system.impedance_confirmed()
    bench.state_impedance(registers, joint_names=("j0", "j1", "j2", "j3"))
    assert not bench.system.impedance_confirmed()


@pytest.mark.parametrize("joint", range(COUNT))
def test_the_registers_of_a_drive_without_power_are_unknown(bench: Bench, joint: int) -> None:
    bench.enter(Mode.STANDBY, 1, 20.0, 2.0)
    bench.control.power_cycle(AT[joint])
    bench.tick(3)
    assert np.flatnonzero(np.isnan(bench.system.realized_stiffness())).tolist() == [joint]


def test_the_registers_of_drives_that_come_back_are_read(bench: Bench) -> None:
    bench.enter(Mode.STANDBY, 1, 20.0, 2.0)
    bench.control.cut(1)  # j0 and j2 are behind it
    bench.tick(30)
    assert np.flatnonzero(np.isnan(bench.system.realized_stiffness())).tolist() == [0, 2]
    bench.control.mend()
    bench.system.reset_faults()
    bench.tick(int(RECOVERY_TIMEOUT / bench.period) + 10)
    assert np.isfinite(bench.system.realized_stiffness()).all()


@pytest.mark.parametrize("joint", range(COUNT))
def test_the_joint_of_a_drive_that_stays_armed_at_the_exit_is_named(
    bench: Bench, joint: int
) -> None:
    bench.enter(Mode.DAMPING, 1, 0.0, 6.0)
    bench.control.mailbox_delay(float("inf"), AT[joint])
    with pytest.raises(Exception, match=rf"may still be armed: j{joint}: "):
        bench.system.on_deactivate()


def test_turns_of_a_joint_in_no_clear_place_stay_its_own(make_bench: Callable[..., Bench]) -> None:
    bench = make_bench(COUNT)
    bench.new_system(positions=AT, calibration=[(1, 0.01)] * COUNT)
    bench.control.set_joint(AT[1], 2 * np.pi + 1.0)  # a turn is lost
    bench.activate()
    bench.enter(Mode.DAMPING, 1, 0.0, 6.0)
    np.testing.assert_allclose(bench.state.position, [0.0, 1.0, 0.0, 0.0], atol=0.02)
    for step in range(1, 33):
        bench.control.set_joint(AT[1], 2 * np.pi + 1.0 + 2.14 * step / 32)
        bench.tick()
    bench.tick(3)
    bench.system.reset_faults()
    bench.tick(3)
    assert "j1 at " in bench.system.safety().message
    np.testing.assert_allclose(bench.state.position, [0.0, 3.14, 0.0, 0.0], atol=0.02)


def test_the_joint_whose_drive_has_another_watchdog_has_another_time(bench: Bench) -> None:
    bench.system._ring.watched[AT[0]] = False
    assert np.isinf(bench.system.watchdog_times()).tolist() == [True, False, False, False]


def test_the_links_of_a_joint_are_those_of_its_drive(bench: Bench) -> None:
    bench.tick(100)
    bench.control.cut(0)  # between j1 and j3
    bench.tick(10)
    bench.control.mend()
    bench.tick(300)
    lost = [not it.endswith(" 0 lost links") for it in shown(bench, "link errors port 1")]
    assert lost == [False, True, False, False]
    lost = [not it.endswith(" 0 lost links") for it in shown(bench, "link errors port 0")]
    assert lost == [False, False, False, True]
