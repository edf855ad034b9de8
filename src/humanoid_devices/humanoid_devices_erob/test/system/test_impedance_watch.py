"""Impedance counts as confirmed only where the manager's word and the drives' agree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from humanoid_control_common.modes import Mode
from humanoid_devices_erob.gains import Registers
from humanoid_devices_erob.impedance_statement import ImpedanceStatement
from humanoid_devices_erob.impedance_watch import ImpedanceWatch
from humanoid_devices_erob.sdo import SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.settings import parse_settings
from humanoid_devices_erob.wire import objects

STANDBY = (515, 19, 0)  # position gain, velocity gain, integral of (20, 2): 10 * 51.47, 2 / 0.1063
KEYS = (
    objects.GATE_SWITCH,
    objects.POSITION_GAIN,
    objects.VELOCITY_GAIN,
    objects.VELOCITY_INTEGRAL,
)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def answers(slave: int, gate: int, gains: tuple[int, int, int] = STANDBY) -> list[SdoResult]:
    values = (gate, *gains)
    return [
        SdoResult(SdoObject(slave, *key, value.to_bytes(4, "little", signed=True)), SdoStatus.DONE)
        for key, value in zip(KEYS, values, strict=True)
    ]


def statement(clock: Clock, gains: tuple[int, int, int] = STANDBY) -> ImpedanceStatement:
    position_gain, velocity_gain, integral = (np.full(2, value) for value in gains)
    return ImpedanceStatement(
        arrived=clock(),
        gate_open=True,
        armed=True,
        confirmed=True,
        mode=int(Mode.STANDBY),
        number=7,
        joint_names=("j1", "j0"),
        registers=Registers(position_gain, velocity_gain, integral),
        stiffness=np.full(2, 20.0),
        damping=np.full(2, 2.0),
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def watch(make_info, clock) -> ImpedanceWatch:
    """STANDBY in force and confirmed by both sides; joint j0 is slave 1."""
    watch = ImpedanceWatch(parse_settings(make_info(2, positions=[1, 0])), clock)
    watch.gates_closed()
    watch.mode_changed(Mode.STANDBY, 7)
    watch.read([*answers(0, 1), *answers(1, 1)])
    watch.stated(statement(clock))
    assert watch.confirmed
    return watch


def test_nothing_is_confirmed_before_anybody_said_so(make_info, clock) -> None:
    watch = ImpedanceWatch(parse_settings(make_info(2)), clock)
    watch.gates_closed()
    watch.mode_changed(Mode.STANDBY, 7)
    assert not watch.confirmed
    watch.read([*answers(0, 1), *answers(1, 1)])
    assert not watch.confirmed


@pytest.mark.parametrize(
    "changes",
    [{"confirmed": False}, {"armed": False}, {"mode": 3}, {"number": 6}, {"joint_names": ("j1",)}],
    ids=lambda changes: next(iter(changes)),
)
def test_statement_about_something_else_confirms_nothing(watch, clock, changes) -> None:
    watch.stated(replace(statement(clock), **changes))
    assert not watch.confirmed


def test_registers_that_read_back_otherwise_than_stated_confirm_nothing(watch) -> None:
    watch.read(answers(1, 1, (515, 18, 0)))
    assert not watch.confirmed
    watch.read(answers(1, 1))
    assert watch.confirmed


def test_closed_gate_confirms_nothing(watch) -> None:
    watch.read(answers(0, 0))
    assert not watch.confirmed


def test_new_mode_or_number_ends_the_confirmation(watch) -> None:
    watch.mode_changed(Mode.STANDBY, 8)
    assert not watch.confirmed
    watch.mode_changed(Mode.STANDBY, 7)
    assert watch.confirmed
    watch.mode_changed(Mode.DAMPING, 7)
    assert not watch.confirmed


def test_slave_that_lost_power_ends_the_confirmation(watch) -> None:
    watch.slave_lost(0)
    assert not watch.confirmed


def test_failed_reads_change_nothing(watch) -> None:
    failed = SdoResult(SdoObject(0, *objects.GATE_SWITCH), SdoStatus.TIMED_OUT)
    watch.read([failed, replace(failed, status=SdoStatus.ABORTED)])
    assert watch.confirmed


def test_stiffness_is_that_of_the_registers_and_unknown_behind_a_closed_gate(watch) -> None:
    # 19 counts of 0.10631 Nm s/rad each, 515 counts of 0.01943 1/s each.
    np.testing.assert_allclose(watch.stiffness, 19 * 0.10631 * 515 * 0.01943, rtol=1e-3)
    same = watch.stiffness
    watch.read(answers(0, 1))
    assert watch.stiffness is same
    watch.read(answers(0, 0))
    assert np.isnan(watch.stiffness).tolist() == [False, True]  # slave 0 is joint j1


def written(batch) -> dict[int, list[tuple[int, int]]]:
    found: dict[int, list[tuple[int, int]]] = {}
    for target in batch.objects:
        value = int.from_bytes(target.data, "little", signed=True)
        found.setdefault(target.slave, []).append((target.index, value))
    return found


def test_stiff_drives_are_softened_when_the_manager_is_silent_in_a_soft_mode(watch, clock) -> None:
    watch.mode_changed(Mode.DAMPING, 8)
    clock.now += 0.29
    assert watch.softening() is None
    clock.now += 0.02
    batch = watch.softening()
    assert (batch.mode, batch.number, batch.write) == (1, 8, True)
    # The position gain falls, so it comes first; 6 / 0.10631 = 56.4 counts of damping.
    assert written(batch) == {slave: [(0x2382, 0), (0x2381, 56)] for slave in (0, 1)}


def test_manager_that_speaks_is_left_alone(watch, clock) -> None:
    watch.mode_changed(Mode.DAMPING, 8)
    for _ in range(10):
        clock.now += 0.1
        watch.stated(replace(statement(clock), confirmed=False))
        assert watch.softening() is None


@pytest.mark.parametrize(
    "changes",
    [
        {"gate_open": False, "confirmed": False},
        {"gate_open": False, "mode": 1, "number": 8},  # as it read them before the gate closed
    ],
    ids=["unconfirmed", "confirmed once"],
)
def test_manager_that_speaks_behind_a_closed_gate_counts_as_silent(watch, clock, changes) -> None:
    watch.mode_changed(Mode.DAMPING, 8)
    for _ in range(2):
        clock.now += 0.14
        watch.stated(replace(statement(clock), **changes))
        assert watch.softening() is None
    clock.now += 0.03
    watch.stated(replace(statement(clock), **changes))
    assert watch.softening() is not None


def test_manager_that_does_not_write_is_left_alone_for_a_second_only(watch, clock) -> None:
    waiting = {"confirmed": False, "mode": 1, "number": 8}  # it sees no batch services, say
    watch.mode_changed(Mode.DAMPING, 8)
    softened = []
    for _ in range(11):
        clock.now += 0.125
        watch.stated(replace(statement(clock), **waiting))
        softened.append(watch.softening() is not None)
    assert softened == [*[False] * 10, True]  # its word of 1 s is the last that counts


def test_gains_written_by_hand_are_left_to_a_manager_that_confirms_others(watch, clock) -> None:
    """It reads them again every second, and takes them back."""
    watch.mode_changed(Mode.DAMPING, 8)
    for _ in range(50):
        clock.now += 0.1
        watch.stated(replace(statement(clock, (0, 56, 0)), mode=1, number=8))
        assert watch.softening() is None


def test_drive_that_comes_back_stiff_long_after_the_change_is_softened(watch, clock) -> None:
    watch.slave_lost(1)
    watch.mode_changed(Mode.DAMPING, 8)
    watch.read(answers(0, 1, (0, 56, 0)))
    clock.now += 5.0
    watch.stated(replace(statement(clock), confirmed=False, mode=1, number=8))
    assert watch.softening() is None
    watch.read(answers(1, 1))
    assert written(watch.softening()) == {1: [(0x2382, 0), (0x2381, 56)]}


def test_stiff_mode_is_never_softened(watch, clock) -> None:
    clock.now += 10.0
    assert watch.softening() is None


def test_drives_that_are_soft_or_never_were_armed_are_left_alone(watch, clock) -> None:
    watch.read([*answers(0, 1, (0, 56, 0)), *answers(1, 0)])
    watch.mode_changed(Mode.DAMPING, 8)
    clock.now += 1.0
    assert watch.softening() is None


def test_softening_that_failed_is_tried_again_but_not_at_once(watch, clock) -> None:
    watch.mode_changed(Mode.DAMPING, 8)
    clock.now += 0.31
    assert watch.softening() is not None
    assert watch.softening() is None
    clock.now += 0.31
    assert watch.softening() is not None
