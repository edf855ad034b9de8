"""Impedance counts as confirmed only if the manager and the registers of the drives agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.drive.gains import JointRegisters, Registers
from humanoid_devices_erob.mailbox.sdo import SdoObject, SdoOutcome, SdoResult, SdoStatus
from humanoid_devices_erob.operation.drive_impedance import DriveImpedance, ImpedanceReport
from humanoid_devices_erob.protocol import objects
from humanoid_devices_erob.settings import parse_settings

if TYPE_CHECKING:
    from src.humanoid_devices.humanoid_devices_erob.test.system.conftest import InfoFactory

STANDBY = (515, 19, 0)  # position gain, velocity gain, integral of (20, 2): 10 * 51.47, 2 / 0.1063
KEYS = (
    objects.GATE_SWITCH,
    objects.POSITION_GAIN,
    objects.VELOCITY_GAIN,
    objects.VELOCITY_INTEGRAL,
    objects.FEED_FORWARD,
)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def each_slave(_: int) -> bool:
    """Every drive may be written now."""
    return True


def answers(
    slave: int, gate: int, gains: tuple[int, int, int] = STANDBY, feed_forward: int = 0
) -> list[SdoResult]:
    values = (gate, *gains, feed_forward)
    return [
        SdoResult(SdoObject(slave, *key, value.to_bytes(4, "little", signed=True)), SdoStatus.DONE)
        for key, value in zip(KEYS, values, strict=True)
    ]


def end_transfers(
    impedance: DriveImpedance, results: Iterable[SdoResult], *, write: bool = False
) -> None:
    """Pass readings, or writes with their read-back, to the impedance as the mailbox ends them."""
    for result in results:
        target, status = result.object, result.status
        outcome = SdoOutcome(status, target.data, result.abort_code)
        if write:
            impedance.transfer_ended(target, replace(outcome, data=b""))
        if not write or status is SdoStatus.DONE:
            impedance.transfer_ended(replace(target, data=b""), outcome)


def report(clock: Clock, gains: tuple[int, int, int] = STANDBY) -> ImpedanceReport:
    position_gain, velocity_gain, integral = (np.full(2, value) for value in gains)
    return ImpedanceReport(
        arrived=clock(),
        gate_open=True,
        armed=True,
        confirmed=True,
        mode=int(Mode.STANDBY),
        number=7,
        joint_names=("j1", "j0"),
        registers=Registers(position_gain, velocity_gain, integral),
    )


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def impedance(make_info: InfoFactory, clock: Clock) -> DriveImpedance:
    """STANDBY in force and confirmed by both sides; joint j0 is slave 1."""
    impedance = DriveImpedance(parse_settings(make_info(2, positions=[1, 0])), clock)
    impedance.gates_closed()
    impedance.mode_changed(Mode.STANDBY, 7)
    end_transfers(impedance, [*answers(0, 1), *answers(1, 1)])
    impedance.reported(report(clock))
    assert impedance.confirmed
    return impedance


def test_feed_forward_that_acts_is_not_confirmed_and_leaves_no_target_free(impedance) -> None:
    assert impedance.free.all()
    for gains in (STANDBY, (0, 56, 0)):
        end_transfers(impedance, answers(1, 1, gains, 0x4000))
        assert not impedance.confirmed
        assert impedance.free.tolist() == [False, True]


def test_target_is_free_only_while_gate_and_feed_forward_are_known(make_info, clock) -> None:
    impedance = DriveImpedance(parse_settings(make_info(2, positions=[1, 0])), clock)
    assert not impedance.free.any()
    impedance.gates_closed()
    assert not impedance.free.any()
    end_transfers(impedance, [*answers(0, 0), *answers(1, 0)])
    assert not impedance.free.any()  # a 0 without effect: the factory value acts
    end_transfers(impedance, [*answers(0, 1), *answers(1, 1)])
    assert impedance.free.all()
    for key in (objects.GATE_SWITCH, objects.FEED_FORWARD):
        end_transfers(impedance, [failed_write(key, SdoStatus.TIMED_OUT)], write=True)
        assert impedance.free.tolist() == [True, False]  # slave 0 is joint j1
        end_transfers(impedance, answers(0, 1))
        assert impedance.free.all()
    impedance.slave_lost(0)
    assert impedance.free.tolist() == [True, False]


def test_drive_without_feed_forward_is_confirmed(make_info, clock) -> None:
    impedance = DriveImpedance(parse_settings(make_info(2, positions=[1, 0])), clock)
    impedance.gates_closed()
    impedance.mode_changed(Mode.STANDBY, 7)
    absent = SdoResult(SdoObject(1, 0x2382, 3), SdoStatus.ABORTED, 0x06090011)
    end_transfers(impedance, [*answers(0, 1), *answers(1, 1)[:-1]])
    impedance.reported(report(clock))
    assert not impedance.confirmed
    assert impedance.drives[0].has_feed_forward is None
    assert impedance.free.tolist() == [False, True]
    end_transfers(impedance, [absent])
    assert impedance.confirmed
    assert impedance.free.all()
    assert [impedance.drives[joint].has_feed_forward for joint in (0, 1)] == [False, True]


def test_gains_are_not_confirmed_before_a_report(make_info, clock) -> None:
    impedance = DriveImpedance(parse_settings(make_info(2)), clock)
    impedance.gates_closed()
    impedance.mode_changed(Mode.STANDBY, 7)
    assert not impedance.confirmed
    end_transfers(impedance, [*answers(0, 1), *answers(1, 1)])
    assert not impedance.confirmed


@pytest.mark.parametrize(
    "changes",
    [{"confirmed": False}, {"armed": False}, {"mode": 3}, {"number": 6}, {"joint_names": ("j1",)}],
    ids=lambda changes: next(iter(changes)),
)
def test_report_about_something_else_confirms_nothing(impedance, clock, changes) -> None:
    impedance.reported(replace(report(clock), **changes))
    assert not impedance.confirmed


def test_registers_that_read_back_otherwise_than_stated_confirm_nothing(impedance) -> None:
    end_transfers(impedance, answers(1, 1, (515, 18, 0)))
    assert not impedance.confirmed
    end_transfers(impedance, answers(1, 1))
    assert impedance.confirmed


def test_closed_gate_confirms_nothing(impedance) -> None:
    end_transfers(impedance, answers(0, 0))
    assert not impedance.confirmed


def test_new_mode_or_number_ends_the_confirmation(impedance) -> None:
    impedance.mode_changed(Mode.STANDBY, 8)
    assert not impedance.confirmed
    impedance.mode_changed(Mode.STANDBY, 7)
    assert impedance.confirmed
    impedance.mode_changed(Mode.DAMPING, 7)
    assert not impedance.confirmed


def test_old_confirmation_is_reported_to_no_thread_while_another_one_checks(impedance) -> None:
    impedance.mode_changed(Mode.STANDBY, 8)
    judge, told = impedance._judge, []

    def interrupted(report: ImpedanceReport | None) -> bool:
        impedance._judge = judge
        told.append(impedance.confirmed)  # the loop reads
        return judge(report)

    impedance._judge = interrupted
    assert not impedance.confirmed  # the diagnostics read
    assert told == [False]


def test_confirmation_judged_while_registers_change_is_judged_again(impedance) -> None:
    drive = impedance.drives[0]
    value = drive.value

    def interrupted(key: tuple[int, int]) -> int:
        assert impedance.confirmed  # another thread reads
        return value(key)

    drive.value = interrupted
    end_transfers(impedance, answers(1, 1, (515, 18, 0))[2:3])
    assert not impedance.confirmed


class Interrupted(dict[tuple[int, int], int]):
    """Values of a drive, one of which changes while a thread reads them one after the other."""

    learn: Callable[[], None] = staticmethod(lambda: None)

    def __getitem__(self, key: tuple[int, int]) -> int:
        return self._taken(super().__getitem__(key))

    def get(self, key: tuple[int, int], default: int | None = None) -> int | None:
        return self._taken(super().get(key, default))

    def _taken(self, value: int | None) -> int | None:
        learn, self.learn = self.learn, lambda: None
        learn()
        return value


def test_gains_that_another_thread_takes_meanwhile_do_not_replace_new_ones(impedance) -> None:
    drive = impedance.drives[1]  # of slave 0
    drive._values = values = Interrupted(drive._values)
    values.learn = lambda: end_transfers(impedance, answers(0, 1, (0, 56, 0)))
    assert drive.gains.position_gain == STANDBY[0]  # the diagnostics read
    assert drive.gains == JointRegisters(0, 56, 0)


def stated_unknown(clock: Clock, joint: int) -> ImpedanceReport:
    """Return a report without the registers of one drive; the others are as confirmed."""
    registers = Registers(np.full(2, STANDBY[0]), np.full(2, STANDBY[1]), np.full(2, STANDBY[2]))
    for values in (registers.position_gain, registers.velocity_gain, registers.velocity_integral):
        values[1 - joint] = -1  # it names j1 first
    return replace(report(clock), registers=registers, confirmed=False, armed=False)


def test_joint_whose_gains_are_not_known_any_more_leaves_the_others_confirmed(
    impedance, clock
) -> None:
    assert impedance.unconfirmed().tolist() == [False, False]
    impedance.reported(stated_unknown(clock, 1))
    assert not impedance.confirmed
    assert impedance.unconfirmed().tolist() == [False, True]
    impedance.slave_lost(1)  # joint j0
    assert impedance.unconfirmed().tolist() == [True, True]
    end_transfers(impedance, answers(1, 1))
    impedance.reported(report(clock))
    assert impedance.unconfirmed().tolist() == [False, False]


@pytest.mark.parametrize("joint", [0, 1])
@pytest.mark.parametrize(("gate", "gains"), [(1, (515, 18, 0)), (0, STANDBY)], ids=["gain", "gate"])
def test_joint_that_lost_its_gains_leaves_the_others_confirmed(
    impedance, joint, gate, gains
) -> None:
    assert not impedance.unconfirmed().any()
    end_transfers(impedance, answers(1 - joint, gate, gains))
    assert np.flatnonzero(impedance.unconfirmed()).tolist() == [joint]


def test_no_joint_is_confirmed_for_another_mode_number_or_joint(impedance, clock) -> None:
    assert not impedance.unconfirmed().any()
    unknown = stated_unknown(clock, 0)
    for changes in ({"mode": 3}, {"number": 6}, {"joint_names": ("j1",)}):
        impedance.reported(replace(unknown, **changes))
        assert impedance.unconfirmed().all(), changes
    impedance.mode_changed(Mode.STANDBY, 8)
    impedance.reported(replace(unknown, number=8))
    assert impedance.unconfirmed().all()
    impedance.mode_changed(Mode.LOCOMOTION, 7)
    impedance.reported(replace(unknown, mode=int(Mode.LOCOMOTION)))
    assert impedance.unconfirmed().all()


def test_every_joint_is_unconfirmed_before_the_first_confirmation(make_info, clock) -> None:
    impedance = DriveImpedance(parse_settings(make_info(2, positions=[1, 0])), clock)
    assert impedance.unconfirmed().all()
    impedance.gates_closed()
    impedance.mode_changed(Mode.STANDBY, 7)
    end_transfers(impedance, [*answers(0, 1), *answers(1, 1)])
    assert impedance.unconfirmed().all()
    impedance.reported(replace(report(clock), confirmed=False))
    assert impedance.unconfirmed().all()


def test_slave_that_lost_power_ends_the_confirmation(impedance) -> None:
    impedance.slave_lost(0)
    assert not impedance.confirmed


def test_failed_reads_change_nothing(impedance) -> None:
    failed = SdoResult(SdoObject(0, *objects.GATE_SWITCH), SdoStatus.TIMED_OUT)
    end_transfers(impedance, [failed, replace(failed, status=SdoStatus.ABORTED)])
    assert impedance.confirmed


def failed_write(key: tuple[int, int], status: SdoStatus) -> SdoResult:
    """As from a batch: with the value to write."""
    return SdoResult(SdoObject(0, *key, bytes(4)), status, message="it failed")


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("status", [SdoStatus.TIMED_OUT, SdoStatus.ABORTED])
def test_register_of_a_write_that_failed_is_not_known_any_more(impedance, key, status) -> None:
    end_transfers(impedance, [failed_write(key, status)], write=True)
    assert not impedance.confirmed
    assert (
        impedance.drives[1].gains is None or impedance.drives[1].gate is None
    )  # slave 0 is joint j1
    end_transfers(impedance, answers(0, 1))
    assert impedance.confirmed


@pytest.mark.parametrize("key", KEYS)
def test_register_is_not_known_between_its_write_and_its_read_back(impedance, key) -> None:
    value = {it.object.key: it.object for it in answers(0, 1)}[key]
    impedance.transfer_ended(value, SdoOutcome(SdoStatus.DONE))
    assert not impedance.confirmed
    impedance.transfer_ended(replace(value, data=b""), SdoOutcome(SdoStatus.DONE, value.data))
    assert impedance.confirmed


def test_objects_that_are_no_gains_change_nothing(impedance) -> None:
    impedance.transfer_ended(SdoObject(0, 0x603F, 0), SdoOutcome(SdoStatus.DONE, bytes(2)))
    impedance.transfer_ended(
        SdoObject(7, *objects.GATE_SWITCH, bytes(4)), SdoOutcome(SdoStatus.DONE)
    )
    assert impedance.confirmed


def test_write_that_was_refused_leaves_its_register_known(impedance) -> None:
    end_transfers(impedance, [failed_write(key, SdoStatus.REFUSED) for key in KEYS], write=True)
    assert impedance.confirmed


@pytest.mark.parametrize("key", [objects.GATE_SWITCH, objects.POSITION_GAIN, objects.VELOCITY_GAIN])
def test_drive_that_may_not_have_been_softened_is_softened_again(impedance, clock, key) -> None:
    """Softening with one unknown register: the writes begin from the soft side."""
    impedance.mode_changed(Mode.DAMPING, 8)
    end_transfers(impedance, [*answers(0, 1, (0, 56, 0)), *answers(1, 1, (0, 56, 0))])
    clock.now += 0.31
    if key == objects.GATE_SWITCH:
        end_transfers(impedance, answers(0, 1))
    end_transfers(impedance, [failed_write(key, SdoStatus.TIMED_OUT)], write=True)
    found = written(impedance.softening(each_slave))
    assert list(found) == [0]
    assert found[0][0] == (0x2382, 0)
    assert (0x2381, 56) in found[0]


def test_drive_that_cannot_be_written_now_is_softened_as_soon_as_it_can(impedance, clock) -> None:
    impedance.mode_changed(Mode.DAMPING, 8)
    clock.now += 0.31
    assert list(written(impedance.softening(lambda slave: slave == 1))) == [1]
    end_transfers(impedance, answers(1, 1, (0, 56, 0)), write=True)
    clock.now += 10.0
    for _ in range(3):
        assert impedance.softening(lambda _: False) is None
    assert list(written(impedance.softening(each_slave))) == [0]


def test_stiffness_is_that_of_the_registers_and_unknown_behind_a_closed_gate(impedance) -> None:
    # 19 counts of 0.10631 Nm s/rad each, 515 counts of 0.01943 1/s each.
    np.testing.assert_allclose(impedance.stiffness, 19 * 0.10631 * 515 * 0.01943, rtol=1e-3)
    same = impedance.stiffness
    end_transfers(impedance, answers(0, 1))
    assert impedance.stiffness is same
    end_transfers(impedance, answers(0, 0))
    assert np.isnan(impedance.stiffness).tolist() == [False, True]  # slave 0 is joint j1


def written(batch) -> dict[int, list[tuple[int, int]]]:
    found: dict[int, list[tuple[int, int]]] = {}
    for target in batch.objects:
        value = int.from_bytes(target.data, "little", signed=True)
        found.setdefault(target.slave, []).append((target.index, value))
    return found


def test_stiff_drives_are_softened_when_the_manager_is_silent_in_a_soft_mode(
    impedance, clock
) -> None:
    impedance.mode_changed(Mode.DAMPING, 8)
    clock.now += 0.29
    assert impedance.softening(each_slave) is None
    clock.now += 0.02
    batch = impedance.softening(each_slave)
    assert (batch.mode, batch.number, batch.write) == (1, 8, True)
    # The position gain falls, so it comes first; 6 / 0.10631 = 56.4 counts of damping.
    assert written(batch) == {slave: [(0x2382, 0), (0x2381, 56)] for slave in (0, 1)}


def test_manager_that_publishes_is_left_alone(impedance, clock) -> None:
    impedance.mode_changed(Mode.DAMPING, 8)
    for _ in range(10):
        clock.now += 0.1
        impedance.reported(replace(report(clock), confirmed=False))
        assert impedance.softening(each_slave) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"gate_open": False, "confirmed": False},
        {"gate_open": False, "mode": 1, "number": 8},  # the reading before the gate closed
    ],
    ids=["unconfirmed", "confirmed once"],
)
def test_manager_that_publishes_behind_a_closed_gate_counts_as_silent(
    impedance, clock, changes
) -> None:
    impedance.mode_changed(Mode.DAMPING, 8)
    for _ in range(2):
        clock.now += 0.14
        impedance.reported(replace(report(clock), **changes))
        assert impedance.softening(each_slave) is None
    clock.now += 0.03
    impedance.reported(replace(report(clock), **changes))
    assert impedance.softening(each_slave) is not None


def test_manager_that_does_not_write_is_left_alone_for_a_second_only(impedance, clock) -> None:
    waiting = {"confirmed": False, "mode": 1, "number": 8}  # for example without batch services
    impedance.mode_changed(Mode.DAMPING, 8)
    softened = []
    for _ in range(11):
        clock.now += 0.125
        impedance.reported(replace(report(clock), **waiting))
        softened.append(impedance.softening(each_slave) is not None)
    assert softened == [*[False] * 10, True]  # its state of 1 s is the last valid one


def test_gains_written_by_hand_are_left_to_a_manager_that_confirms_others(impedance, clock) -> None:
    """The manager reads them every second, and discards them after that."""
    impedance.mode_changed(Mode.DAMPING, 8)
    for _ in range(50):
        clock.now += 0.1
        impedance.reported(replace(report(clock, (0, 56, 0)), mode=1, number=8))
        assert impedance.softening(each_slave) is None


def test_drive_that_comes_back_stiff_long_after_the_change_is_softened(impedance, clock) -> None:
    impedance.slave_lost(1)
    impedance.mode_changed(Mode.DAMPING, 8)
    end_transfers(impedance, answers(0, 1, (0, 56, 0)))
    clock.now += 5.0
    impedance.reported(replace(report(clock), confirmed=False, mode=1, number=8))
    assert impedance.softening(lambda slave: slave == 0) is None
    end_transfers(impedance, answers(1, 1))
    assert written(impedance.softening(each_slave)) == {1: [(0x2382, 0), (0x2381, 56)]}


def test_stiff_mode_is_never_softened(impedance, clock) -> None:
    clock.now += 10.0
    assert impedance.softening(each_slave) is None


def test_drives_that_are_soft_or_never_were_armed_are_left_alone(impedance, clock) -> None:
    end_transfers(impedance, [*answers(0, 1, (0, 56, 0)), *answers(1, 0)])
    impedance.mode_changed(Mode.DAMPING, 8)
    clock.now += 1.0
    assert impedance.softening(each_slave) is None


def test_limp_drives_are_damped_in_damping_when_the_manager_is_silent(impedance, clock) -> None:
    end_transfers(impedance, [*answers(0, 1, (0, 0, 0)), *answers(1, 1, (0, 56, 0))])
    impedance.mode_changed(Mode.ZERO_TORQUE, 8)
    clock.now += 0.31
    assert impedance.softening(each_slave) is None
    impedance.mode_changed(Mode.DAMPING, 9)
    assert impedance.softening(each_slave) is None
    clock.now += 0.31
    batch = impedance.softening(each_slave)
    assert (batch.mode, batch.number, batch.write) == (1, 9, True)
    assert written(batch) == {0: [(0x2381, 56)]}


def test_limp_drives_that_use_their_factory_gains_are_left_alone(impedance, clock) -> None:
    end_transfers(impedance, [*answers(0, 0, (0, 0, 0)), *answers(1, 0, (0, 0, 0))])
    impedance.mode_changed(Mode.DAMPING, 8)
    clock.now += 1.0
    assert impedance.softening(each_slave) is None


def test_softening_that_failed_is_tried_again_but_not_at_once(impedance, clock) -> None:
    impedance.mode_changed(Mode.DAMPING, 8)
    clock.now += 0.31
    assert impedance.softening(each_slave) is not None
    assert impedance.softening(each_slave) is None
    clock.now += 0.31
    assert impedance.softening(each_slave) is not None
