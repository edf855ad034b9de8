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
from humanoid_devices_erob.operation.impedance_watch import ImpedanceStatement, ImpedanceWatch
from humanoid_devices_erob.settings import parse_settings
from humanoid_devices_erob.wire import objects

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


def take(watch: ImpedanceWatch, results: Iterable[SdoResult], *, write: bool = False) -> None:
    """Pass readings, or writes with their read-back, to the watch as the mailbox ends them."""
    for result in results:
        target, status = result.object, result.status
        outcome = SdoOutcome(status, target.data, result.abort_code)
        if write:
            watch.take(target, replace(outcome, data=b""))
        if not write or status is SdoStatus.DONE:
            watch.take(replace(target, data=b""), outcome)


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
def watch(make_info: InfoFactory, clock: Clock) -> ImpedanceWatch:
    """STANDBY in force and confirmed by both sides; joint j0 is slave 1."""
    watch = ImpedanceWatch(parse_settings(make_info(2, positions=[1, 0])), clock)
    watch.gates_closed()
    watch.mode_changed(Mode.STANDBY, 7)
    take(watch, [*answers(0, 1), *answers(1, 1)])
    watch.stated(statement(clock))
    assert watch.confirmed
    return watch


def test_feed_forward_that_acts_is_not_confirmed_and_leaves_no_target_free(watch) -> None:
    assert watch.free.all()
    for gains in (STANDBY, (0, 56, 0)):
        take(watch, answers(1, 1, gains, 0x4000))
        assert not watch.confirmed
        assert watch.free.tolist() == [False, True]


def test_target_is_free_only_while_gate_and_feed_forward_are_known(make_info, clock) -> None:
    watch = ImpedanceWatch(parse_settings(make_info(2, positions=[1, 0])), clock)
    assert not watch.free.any()
    watch.gates_closed()
    assert not watch.free.any()
    take(watch, [*answers(0, 0), *answers(1, 0)])
    assert not watch.free.any()  # a 0 without effect: the factory value acts
    take(watch, [*answers(0, 1), *answers(1, 1)])
    assert watch.free.all()
    for key in (objects.GATE_SWITCH, objects.FEED_FORWARD):
        take(watch, [failed_write(key, SdoStatus.TIMED_OUT)], write=True)
        assert watch.free.tolist() == [True, False]  # slave 0 is joint j1
        take(watch, answers(0, 1))
        assert watch.free.all()
    watch.slave_lost(0)
    assert watch.free.tolist() == [True, False]


def test_drive_without_feed_forward_is_confirmed(make_info, clock) -> None:
    watch = ImpedanceWatch(parse_settings(make_info(2, positions=[1, 0])), clock)
    watch.gates_closed()
    watch.mode_changed(Mode.STANDBY, 7)
    absent = SdoResult(SdoObject(1, 0x2382, 3), SdoStatus.ABORTED, 0x06090011)
    take(watch, [*answers(0, 1), *answers(1, 1)[:-1]])
    watch.stated(statement(clock))
    assert not watch.confirmed
    assert watch.drives[0].has_feed_forward is None
    assert watch.free.tolist() == [False, True]
    take(watch, [absent])
    assert watch.confirmed
    assert watch.free.all()
    assert [watch.drives[joint].has_feed_forward for joint in (0, 1)] == [False, True]


def test_gains_are_not_confirmed_before_a_statement(make_info, clock) -> None:
    watch = ImpedanceWatch(parse_settings(make_info(2)), clock)
    watch.gates_closed()
    watch.mode_changed(Mode.STANDBY, 7)
    assert not watch.confirmed
    take(watch, [*answers(0, 1), *answers(1, 1)])
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
    take(watch, answers(1, 1, (515, 18, 0)))
    assert not watch.confirmed
    take(watch, answers(1, 1))
    assert watch.confirmed


def test_closed_gate_confirms_nothing(watch) -> None:
    take(watch, answers(0, 0))
    assert not watch.confirmed


def test_new_mode_or_number_ends_the_confirmation(watch) -> None:
    watch.mode_changed(Mode.STANDBY, 8)
    assert not watch.confirmed
    watch.mode_changed(Mode.STANDBY, 7)
    assert watch.confirmed
    watch.mode_changed(Mode.DAMPING, 7)
    assert not watch.confirmed


def test_old_confirmation_is_reported_to_no_thread_while_another_one_checks(watch) -> None:
    watch.mode_changed(Mode.STANDBY, 8)
    judge, told = watch._judge, []

    def interrupted(statement: ImpedanceStatement | None) -> bool:
        watch._judge = judge
        told.append(watch.confirmed)  # the loop reads
        return judge(statement)

    watch._judge = interrupted
    assert not watch.confirmed  # the diagnostics read
    assert told == [False]


def test_confirmation_judged_while_registers_change_is_judged_again(watch) -> None:
    drive = watch.drives[0]
    value = drive.value

    def interrupted(key: tuple[int, int], unknown: int) -> int:
        assert watch.confirmed  # another thread reads
        return value(key, unknown)

    drive.value = interrupted
    take(watch, answers(1, 1, (515, 18, 0))[2:3])
    assert not watch.confirmed


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


def test_gains_that_another_thread_takes_meanwhile_do_not_replace_new_ones(watch) -> None:
    drive = watch.drives[1]  # of slave 0
    drive._values = values = Interrupted(drive._values)
    values.learn = lambda: take(watch, answers(0, 1, (0, 56, 0)))
    assert drive.gains.position_gain == STANDBY[0]  # the diagnostics read
    assert drive.gains == JointRegisters(0, 56, 0)


def stated_unknown(clock: Clock, joint: int) -> ImpedanceStatement:
    """Return a statement without the registers of one drive; the others are as confirmed."""
    registers = Registers(np.full(2, STANDBY[0]), np.full(2, STANDBY[1]), np.full(2, STANDBY[2]))
    for values in (registers.position_gain, registers.velocity_gain, registers.velocity_integral):
        values[1 - joint] = -1  # it names j1 first
    return replace(statement(clock), registers=registers, confirmed=False, armed=False)


def test_joint_whose_gains_are_not_known_any_more_leaves_the_others_confirmed(watch, clock) -> None:
    assert watch.unconfirmed().tolist() == [False, False]
    watch.stated(stated_unknown(clock, 1))
    assert not watch.confirmed
    assert watch.unconfirmed().tolist() == [False, True]
    watch.slave_lost(1)  # joint j0
    assert watch.unconfirmed().tolist() == [True, True]
    take(watch, answers(1, 1))
    watch.stated(statement(clock))
    assert watch.unconfirmed().tolist() == [False, False]


@pytest.mark.parametrize("joint", [0, 1])
@pytest.mark.parametrize(("gate", "gains"), [(1, (515, 18, 0)), (0, STANDBY)], ids=["gain", "gate"])
def test_joint_that_lost_its_gains_leaves_the_others_confirmed(watch, joint, gate, gains) -> None:
    assert not watch.unconfirmed().any()
    take(watch, answers(1 - joint, gate, gains))
    assert np.flatnonzero(watch.unconfirmed()).tolist() == [joint]


def test_no_joint_is_confirmed_for_another_mode_number_or_joint(watch, clock) -> None:
    assert not watch.unconfirmed().any()
    unknown = stated_unknown(clock, 0)
    for changes in ({"mode": 3}, {"number": 6}, {"joint_names": ("j1",)}):
        watch.stated(replace(unknown, **changes))
        assert watch.unconfirmed().all(), changes
    watch.mode_changed(Mode.STANDBY, 8)
    watch.stated(replace(unknown, number=8))
    assert watch.unconfirmed().all()
    watch.mode_changed(Mode.LOCOMOTION, 7)
    watch.stated(replace(unknown, mode=int(Mode.LOCOMOTION)))
    assert watch.unconfirmed().all()


def test_every_joint_is_unconfirmed_before_the_first_confirmation(make_info, clock) -> None:
    watch = ImpedanceWatch(parse_settings(make_info(2, positions=[1, 0])), clock)
    assert watch.unconfirmed().all()
    watch.gates_closed()
    watch.mode_changed(Mode.STANDBY, 7)
    take(watch, [*answers(0, 1), *answers(1, 1)])
    assert watch.unconfirmed().all()
    watch.stated(replace(statement(clock), confirmed=False))
    assert watch.unconfirmed().all()


def test_slave_that_lost_power_ends_the_confirmation(watch) -> None:
    watch.slave_lost(0)
    assert not watch.confirmed


def test_failed_reads_change_nothing(watch) -> None:
    failed = SdoResult(SdoObject(0, *objects.GATE_SWITCH), SdoStatus.TIMED_OUT)
    take(watch, [failed, replace(failed, status=SdoStatus.ABORTED)])
    assert watch.confirmed


def failed_write(key: tuple[int, int], status: SdoStatus) -> SdoResult:
    """As from a batch: with the value to write."""
    return SdoResult(SdoObject(0, *key, bytes(4)), status, message="it failed")


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("status", [SdoStatus.TIMED_OUT, SdoStatus.ABORTED])
def test_register_of_a_write_that_failed_is_not_known_any_more(watch, key, status) -> None:
    take(watch, [failed_write(key, status)], write=True)
    assert not watch.confirmed
    assert watch.drives[1].gains is None or watch.drives[1].gate is None  # slave 0 is joint j1
    take(watch, answers(0, 1))
    assert watch.confirmed


@pytest.mark.parametrize("key", KEYS)
def test_register_is_not_known_between_its_write_and_its_read_back(watch, key) -> None:
    value = {it.object.key: it.object for it in answers(0, 1)}[key]
    watch.take(value, SdoOutcome(SdoStatus.DONE))
    assert not watch.confirmed
    watch.take(replace(value, data=b""), SdoOutcome(SdoStatus.DONE, value.data))
    assert watch.confirmed


def test_objects_that_are_no_gains_change_nothing(watch) -> None:
    watch.take(SdoObject(0, 0x603F, 0), SdoOutcome(SdoStatus.DONE, bytes(2)))
    watch.take(SdoObject(7, *objects.GATE_SWITCH, bytes(4)), SdoOutcome(SdoStatus.DONE))
    assert watch.confirmed


def test_write_that_was_refused_leaves_its_register_known(watch) -> None:
    take(watch, [failed_write(key, SdoStatus.REFUSED) for key in KEYS], write=True)
    assert watch.confirmed


@pytest.mark.parametrize("key", [objects.GATE_SWITCH, objects.POSITION_GAIN, objects.VELOCITY_GAIN])
def test_drive_that_may_not_have_been_softened_is_softened_again(watch, clock, key) -> None:
    """Softening with one unknown register: the writes begin from the soft side."""
    watch.mode_changed(Mode.DAMPING, 8)
    take(watch, [*answers(0, 1, (0, 56, 0)), *answers(1, 1, (0, 56, 0))])
    clock.now += 0.31
    if key == objects.GATE_SWITCH:
        take(watch, answers(0, 1))
    take(watch, [failed_write(key, SdoStatus.TIMED_OUT)], write=True)
    found = written(watch.softening(each_slave))
    assert list(found) == [0]
    assert found[0][0] == (0x2382, 0)
    assert (0x2381, 56) in found[0]


def test_drive_that_cannot_be_written_now_is_softened_as_soon_as_it_can(watch, clock) -> None:
    watch.mode_changed(Mode.DAMPING, 8)
    clock.now += 0.31
    assert list(written(watch.softening(lambda slave: slave == 1))) == [1]
    take(watch, answers(1, 1, (0, 56, 0)), write=True)
    clock.now += 10.0
    for _ in range(3):
        assert watch.softening(lambda _: False) is None
    assert list(written(watch.softening(each_slave))) == [0]


def test_stiffness_is_that_of_the_registers_and_unknown_behind_a_closed_gate(watch) -> None:
    # 19 counts of 0.10631 Nm s/rad each, 515 counts of 0.01943 1/s each.
    np.testing.assert_allclose(watch.stiffness, 19 * 0.10631 * 515 * 0.01943, rtol=1e-3)
    same = watch.stiffness
    take(watch, answers(0, 1))
    assert watch.stiffness is same
    take(watch, answers(0, 0))
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
    assert watch.softening(each_slave) is None
    clock.now += 0.02
    batch = watch.softening(each_slave)
    assert (batch.mode, batch.number, batch.write) == (1, 8, True)
    # The position gain falls, so it comes first; 6 / 0.10631 = 56.4 counts of damping.
    assert written(batch) == {slave: [(0x2382, 0), (0x2381, 56)] for slave in (0, 1)}


def test_manager_that_publishes_is_left_alone(watch, clock) -> None:
    watch.mode_changed(Mode.DAMPING, 8)
    for _ in range(10):
        clock.now += 0.1
        watch.stated(replace(statement(clock), confirmed=False))
        assert watch.softening(each_slave) is None


@pytest.mark.parametrize(
    "changes",
    [
        {"gate_open": False, "confirmed": False},
        {"gate_open": False, "mode": 1, "number": 8},  # the reading before the gate closed
    ],
    ids=["unconfirmed", "confirmed once"],
)
def test_manager_that_publishes_behind_a_closed_gate_counts_as_silent(
    watch, clock, changes
) -> None:
    watch.mode_changed(Mode.DAMPING, 8)
    for _ in range(2):
        clock.now += 0.14
        watch.stated(replace(statement(clock), **changes))
        assert watch.softening(each_slave) is None
    clock.now += 0.03
    watch.stated(replace(statement(clock), **changes))
    assert watch.softening(each_slave) is not None


def test_manager_that_does_not_write_is_left_alone_for_a_second_only(watch, clock) -> None:
    waiting = {"confirmed": False, "mode": 1, "number": 8}  # for example without batch services
    watch.mode_changed(Mode.DAMPING, 8)
    softened = []
    for _ in range(11):
        clock.now += 0.125
        watch.stated(replace(statement(clock), **waiting))
        softened.append(watch.softening(each_slave) is not None)
    assert softened == [*[False] * 10, True]  # its state of 1 s is the last valid one


def test_gains_written_by_hand_are_left_to_a_manager_that_confirms_others(watch, clock) -> None:
    """The manager reads them every second, and discards them after that."""
    watch.mode_changed(Mode.DAMPING, 8)
    for _ in range(50):
        clock.now += 0.1
        watch.stated(replace(statement(clock, (0, 56, 0)), mode=1, number=8))
        assert watch.softening(each_slave) is None


def test_drive_that_comes_back_stiff_long_after_the_change_is_softened(watch, clock) -> None:
    watch.slave_lost(1)
    watch.mode_changed(Mode.DAMPING, 8)
    take(watch, answers(0, 1, (0, 56, 0)))
    clock.now += 5.0
    watch.stated(replace(statement(clock), confirmed=False, mode=1, number=8))
    assert watch.softening(lambda slave: slave == 0) is None
    take(watch, answers(1, 1))
    assert written(watch.softening(each_slave)) == {1: [(0x2382, 0), (0x2381, 56)]}


def test_stiff_mode_is_never_softened(watch, clock) -> None:
    clock.now += 10.0
    assert watch.softening(each_slave) is None


def test_drives_that_are_soft_or_never_were_armed_are_left_alone(watch, clock) -> None:
    take(watch, [*answers(0, 1, (0, 56, 0)), *answers(1, 0)])
    watch.mode_changed(Mode.DAMPING, 8)
    clock.now += 1.0
    assert watch.softening(each_slave) is None


def test_softening_that_failed_is_tried_again_but_not_at_once(watch, clock) -> None:
    watch.mode_changed(Mode.DAMPING, 8)
    clock.now += 0.31
    assert watch.softening(each_slave) is not None
    assert watch.softening(each_slave) is None
    clock.now += 0.31
    assert watch.softening(each_slave) is not None
