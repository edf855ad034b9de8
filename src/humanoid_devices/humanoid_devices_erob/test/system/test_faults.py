"""Faults in operation are detected at once, named, and cleared where possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import pytest

from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel
from humanoid_devices_erob.drive.gains import gains_to_registers
from humanoid_devices_erob.master.al_state import AlState, AlStatus
from humanoid_devices_erob.operation.drive_monitor import SILENCE
from humanoid_devices_erob.operation.recovery import TIMEOUT as RECOVERY_TIMEOUT

if TYPE_CHECKING:
    from src.humanoid_devices.humanoid_devices_erob.test.system.conftest import Bench

HEALTHY = 5687
COMMUNICATION = 0xA000
PER_RADIAN = 524288 / (2 * np.pi)


def tick_until_fault(bench, most: int) -> str:
    """Return the message of the fault, which must come within `most` ticks."""
    for _ in range(most):
        bench.tick()
        report = bench.system.safety()
        if report.level is SafetyLevel.FAULT:
            return report.message
    raise AssertionError(f"no fault within {most} ticks")


def mended(bench, most: int = 150) -> None:
    bench.system.reset_faults()
    for _ in range(most):
        bench.tick()
        if bench.system.safety().level is SafetyLevel.OK:
            return
    raise AssertionError(bench.system.safety().message)


@pytest.fixture
def bench(make_bench: Callable[..., Bench]) -> Bench:
    """Four drives in DAMPING."""
    return in_damping(make_bench(4))


@pytest.fixture
def any_bench(make_any_bench: Callable[..., Bench]) -> Bench:
    """The same, on each kind of ring."""
    return in_damping(make_any_bench(4))


def in_damping(bench: Bench) -> Bench:
    bench.activate()
    bench.system.mode_changed(Mode.DAMPING, 1)
    bench.tick(10)
    assert bench.system.safety().level is SafetyLevel.OK
    return bench


def make_stiff(bench: Bench) -> None:
    """Bring STANDBY into force, with its gains on all drives."""
    bench.enter(Mode.STANDBY, 2, 20.0, 2.0)
    bench.command.stiffness[:] = 20.0
    bench.tick(5)


def request_damping(bench: Bench) -> None:
    """Bring DAMPING into force; its gains are not written."""
    bench.system.mode_changed(Mode.DAMPING, 3)
    bench.command.stiffness[:] = 0.0


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        (0xA000, "EtherCAT communication error"),
        (0x8500, "position error exceeds limit"),
        (0x8400, "velocity error exceeds limit"),
    ],
)
def test_drive_error_is_reported_with_joint_statusword_and_meaning(bench, code, meaning) -> None:
    bench.control.drive_error(3, code)
    message = tick_until_fault(bench, 2)
    assert "j3: statusword 4616 (0x1208): fault" in message
    assert "j2" not in message
    assert bench.system.safety().flags & SafetyFlag.MOTOR_FAULT
    bench.tick(3)
    message = bench.system.safety().message
    assert f"error 0x{code:04X} {meaning}" in message
    assert f"history: 0x{code:04X}" in message


def test_an_old_error_is_no_reason_of_a_drive_that_leaves_operation_without_one(bench) -> None:
    bench.control.drive_error(3, 0x8500)
    bench.tick(10)
    mended(bench)
    bench.time.drives[3].controlword = 0  # as its input for a safe stop does
    assert tick_until_fault(bench, 2)
    bench.tick(10)
    report = bench.system.safety()
    assert "j3: statusword 592 (0x0250): switch on disabled" in report.message
    assert "0x8500" not in report.message
    assert report.codes == ("DRIVE_DISABLED",)


def test_second_error_of_a_drive_is_read_while_another_drive_stays_out_of_operation(bench) -> None:
    bench.control.drive_error(3, 0x730F)  # which a reset does not clear
    bench.control.drive_error(1, 0x8500)
    bench.tick(10)
    assert "j1: statusword 4616 (0x1208): fault, error 0x8500" in bench.system.safety().message
    bench.system.reset_faults()
    bench.tick(170)
    assert bench.of_drives("statusword")[1] == HEALTHY
    bench.control.drive_error(1, 0x8400)
    bench.tick(10)
    assert "j1: statusword 4616 (0x1208): fault, error 0x8400" in bench.system.safety().message


def test_faulted_drive_stays_out_of_operation_until_it_is_reset(bench) -> None:
    bench.control.drive_error(3, 0x8500)
    bench.tick(50)
    assert bench.of_drives("statusword")[3] == 4616
    others = [word for i, word in enumerate(bench.of_drives("statusword")) if i != 3]
    assert others == [HEALTHY] * 3
    mended(bench)
    assert bench.of_drives("statusword") == [HEALTHY] * 4


def test_drive_that_faults_between_bring_up_and_first_tick_can_be_reset(make_bench) -> None:
    bench = make_bench(4)
    bench.activate()
    bench.control.drive_error(3, 0x8500)
    for _ in range(5):  # by the bring-up's thread, until the loop has the ring
        bench.system._ring.exchange()
        bench.time.sleep(bench.period)
    bench.tick(50)
    assert bench.of_drives("statusword") == [HEALTHY] * 3 + [4616]
    mended(bench)
    assert bench.of_drives("statusword") == [HEALTHY] * 4


def test_one_reset_leads_all_ten_drives_back_to_operation(make_bench) -> None:
    bench = in_damping(make_bench(10))
    for slave in range(10):
        bench.control.drive_error(slave, 0x8500)
    tick_until_fault(bench, 5)
    mended(bench)
    assert bench.of_drives("statusword") == [HEALTHY] * 10


def test_reset_that_is_requested_in_every_tick_comes_to_its_end(bench) -> None:
    bench.control.drive_error(3, 0x8500)
    bench.tick(50)
    for _ in range(50):
        bench.system.reset_faults()
        bench.tick()
        if bench.system.safety().level is SafetyLevel.OK:
            return
    raise AssertionError(bench.system.safety().message)


def test_joint_does_not_move_when_its_fault_is_reset(bench) -> None:
    bench.control.drive_error(3, 0x8500)
    bench.tick(3)
    bench.control.set_joint(3, 0.8)
    bench.tick(3)
    fastest = [0.0]

    def look(_: float) -> None:
        fastest[0] = max(fastest[0], abs(bench.of_drives("joint_velocity")[3]))

    bench.time.on_sleep = look
    mended(bench)
    bench.tick(10)
    assert fastest[0] < 0.01


def test_joint_moved_while_its_stiff_drive_was_in_fault_returns_slowly_after_the_reset(
    bench,
) -> None:
    bench.enter(Mode.STANDBY, 2, 20.0, 2.0)
    registers = bench.set_gains(20.0, 2.0)
    bench.command.stiffness[:] = 20.0
    bench.command.position[:] = bench.state.position
    bench.tick(3)
    bench.control.drive_error(3, 0x8500)
    bench.tick(3)
    bench.control.set_joint(3, 0.8)
    bench.tick(3)
    bench.system.reset_faults()
    image = bench.system._ring.image
    sent = [image.target[3] / PER_RADIAN]
    for _ in range(60):
        bench.state_impedance(registers)
        bench.tick()
        sent.append(image.target[3] / PER_RADIAN)
    assert sent[0] == pytest.approx(0.8, abs=0.01)
    assert np.abs(np.diff(sent)).max() <= 0.25 * 4.0 * bench.period + 0.001  # [rad]
    assert sent[-1] < 0.7  # the drive is enabled again, and goes to its command


def test_cut_cable_is_detected_within_two_ticks_and_the_lost_drives_are_named(bench) -> None:
    bench.control.cut(1)
    message = tick_until_fault(bench, 2)
    bench.tick()
    message = bench.system.safety().message
    assert "working counter" in message
    assert "slave 2 (j2), slave 3 (j3): does not answer" in message
    assert "j1" not in message


def test_measurements_are_as_old_as_those_of_the_drives_behind_a_cut(bench) -> None:
    bench.control.cut(1)
    bench.tick(15)
    assert bench.system.sample_age > SILENCE  # although two drives still answer
    bench.control.mend()
    bench.tick(5)
    assert bench.system.sample_age < SILENCE


def test_cable_cut_at_the_master_is_detected_within_two_ticks(any_bench) -> None:
    any_bench.control.cut(-1)
    assert "no frame comes back" in tick_until_fault(any_bench, 2)
    any_bench.tick(15)
    assert any_bench.system.safety().flags & SafetyFlag.RX_TIMEOUT
    assert any_bench.system.sample_age > SILENCE  # the measurement has this age
    any_bench.control.mend()
    any_bench.tick(5)
    assert any_bench.system.sample_age < SILENCE


def test_repaired_cable_can_be_brought_back_by_a_reset(any_bench) -> None:
    any_bench.control.cut(1)
    any_bench.tick(30)  # long enough for watchdog and SYNC0 supervision behind the cut
    any_bench.control.mend()
    any_bench.tick(10)
    assert any_bench.system.safety().level is SafetyLevel.FAULT
    mended(any_bench)
    assert any_bench.of_drives("statusword") == [HEALTHY] * 4
    assert any_bench.of_drives("al_state") == [8] * 4


def test_reset_with_a_cut_cable_asks_for_no_restart(bench) -> None:
    bench.control.cut(1)
    bench.tick(30)
    bench.system.reset_faults()
    bench.tick(20)
    report = bench.system.safety()
    assert "slave 2 (j2), slave 3 (j3): does not answer" in report.message
    assert "SLAVE_SILENT" in report.codes
    assert "restart" not in report.message
    bench.control.mend()
    bench.tick(10)
    mended(bench)


@pytest.mark.parametrize("slave", [2, 3])
def test_power_cycled_slave_is_detected_within_two_ticks_and_a_reset_asks_for_a_restart(
    bench, slave: int
) -> None:
    bench.control.power_cycle(slave)
    tick_until_fault(bench, 2)
    bench.tick(2)
    assert f"(j{slave}): does not answer" in bench.system.safety().message
    bench.system.reset_faults()
    bench.tick(10)
    message = bench.system.safety().message
    assert f"j{slave}: not configured any more" in message
    assert "restart the control process" in message
    others = [word for i, word in enumerate(bench.of_drives("statusword")) if i != slave]
    assert others == [HEALTHY] * 3


@pytest.mark.parametrize("state", [AlState.INIT, AlState.PREOP])
def test_gains_of_a_drive_that_has_restarted_count_as_unknown(bench, state: AlState) -> None:
    """Its firmware has, without its EtherCAT chip: it keeps its address, and no written gain."""
    make_stiff(bench)
    bench.system._master.request_slave_state(2, state)
    bench.tick(2)
    assert not bench.system.impedance_confirmed()
    unknown = [False, False, True, False]
    np.testing.assert_array_equal(np.isnan(bench.system.realized_stiffness()), unknown)
    _, impedance, *joints = bench.system.diagnose()
    assert impedance.values["confirmed"] == "no"
    assert [joint.values["gate 0x2383"] == "not known" for joint in joints] == unknown


def test_drives_without_their_set_up_are_not_reported_as_in_operation(any_bench) -> None:
    """The power is back, but for the last drive: none answers under its address."""
    bench = any_bench
    for slave in range(3):
        bench.control.power_cycle(slave)
    bench.control.power_off(3)
    bench.tick(3)
    bus, impedance, *joints = bench.system.diagnose()
    assert bus.values["slaves in OP"] == "0 of 4"
    assert bus.values["drives in operation"] == "0 of 4"
    assert impedance.values["confirmed"] == "no"
    assert {joint.values["gate 0x2383"] for joint in joints} == {"not known"}
    bench.system.reset_faults()
    bench.tick(3)
    assert "j0, j1, j2: not configured any more" in bench.system.safety().message
    assert not bench.system._operation._recovery.active


def test_states_whose_frame_is_lost_are_no_news(any_bench) -> None:
    bench = any_bench
    bench.system._master.request_slave_state(2, AlState.SAFEOP)
    bench.tick(2)
    states = bench.system._master.states

    def lost() -> list[AlStatus]:
        bench.control.drop_next(100)
        found = states()
        bench.control.drop_next(0)
        return found

    bench.system._master.states = lost
    bench.tick(2)
    assert "does not answer" not in bench.system.safety().message
    op, safeop = AlState.OP, AlState.SAFEOP
    assert [it.state for it in bench.system._operation.states] == [op, op, safeop, op]


def test_power_cycled_slave_works_again_after_a_restart(any_bench) -> None:
    any_bench.control.power_cycle(2)
    any_bench.tick(5)
    with pytest.raises(Exception, match="j2"):
        any_bench.system.on_deactivate()
    any_bench.new_system()
    any_bench.activate()
    any_bench.tick(3)
    assert any_bench.of_drives("statusword") == [HEALTHY] * 4


def test_clock_switched_off_faults_the_drive_and_is_reported(bench) -> None:
    bench.control.dc_off(1)
    message = tick_until_fault(bench, 5)
    bench.tick(3)
    message = bench.system.safety().message
    assert "j1: statusword 4616" in message
    assert "error 0xA000" in message


def test_loop_slower_than_sync0_faults_the_drives_and_is_reported(bench) -> None:
    bench.period = 3 * 0.02  # as a control_frequency above the frame rate
    message = tick_until_fault(bench, 20)
    bench.period = 0.02
    assert "statusword 4616" in message
    bench.tick(3)
    assert "error 0xA000 EtherCAT communication error" in bench.system.safety().message
    mended(bench)


def test_slaves_that_left_op_with_an_error_are_acknowledged_and_led_back_by_a_reset(bench) -> None:
    bench.control.advance(1.0)  # a process that was held up
    bench.tick(3)
    assert bench.of_drives("al_state") == [4] * 4
    assert all(status.error for status in bench.system._operation.states)
    mended(bench)
    assert bench.of_drives("statusword") == [HEALTHY] * 4


@pytest.mark.parametrize("between", [False, True], ids=["seen enabled", "between two ticks"])
def test_reset_enables_a_drive_that_falls_again_once_only(bench, between: bool) -> None:
    """Its joint would be caught and dropped again and again."""
    enabled = []
    bench.control.drive_error(1, 0x8500)
    bench.tick(5)

    def fall(_: float = 0.0) -> None:
        if bench.of_drives("statusword")[1] == HEALTHY:
            enabled.append(bench.time.clock())
            bench.control.drive_error(1, 0x8500)

    if between:
        bench.time.on_sleep = fall
    bench.system.reset_faults()
    for _ in range(200):
        bench.tick()
        fall()
    assert len(enabled) == 1
    assert bench.of_drives("statusword")[1] == 4616  # nor is its fault reset
    assert "j1: statusword 4616" in bench.system.safety().message
    assert "not enabled" not in bench.system.safety().message
    bench.time.on_sleep = lambda _: None
    mended(bench)


def test_drive_that_falls_again_while_others_recover_is_checked_again(bench) -> None:
    for slave in (0, 2):
        bench.control.drive_error(slave, 0x8500)
    bench.control.keep_mode(2, 3)  # keeps the recovery busy to its end
    bench.tick(3)
    bench.system.reset_faults()
    bench.tick(60)
    assert bench.of_drives("statusword")[0] == HEALTHY
    assert bench.system._operation._recovery.active
    bench.control.keep_mode(0, 3)
    bench.control.drive_error(0, 0x8500)
    bench.tick(2)
    bench.system.reset_faults()
    words = set()
    bench.time.on_sleep = lambda _: words.add(bench.of_drives("statusword")[0])
    bench.tick(60)
    assert words
    assert HEALTHY not in words


def test_single_lost_frame_is_no_fault(any_bench) -> None:
    for _ in range(5):
        any_bench.control.drop_next(1)
        any_bench.tick(3)
        assert any_bench.system.safety().level is SafetyLevel.OK
    assert any_bench.control.statistics()["lost_frames"] == 5
    assert any_bench.of_drives("statusword") == [HEALTHY] * 4


def test_silence_between_two_exchanges_is_no_fault(bench) -> None:
    bench.system.write(bench.command, bench.time.clock(), bench.period)
    bench.control.cut(-1)
    bench.system.idle_until(bench.time.clock() + 0.01)
    bench.control.mend()
    for _ in range(3):
        bench.tick()
        assert bench.system.safety().level is SafetyLevel.OK


def test_reset_without_effect_is_dropped(bench) -> None:
    bench.control.cut(-1)
    bench.tick(10)
    bench.system.reset_faults()
    bench.tick(200)
    bench.control.mend()
    bench.tick(20)
    assert bench.system.safety().level is SafetyLevel.FAULT
    assert HEALTHY not in bench.of_drives("statusword")
    mended(bench)


def test_slave_that_leaves_op_is_detected_although_the_working_counter_is_full(bench) -> None:
    bench.system._master.request_slave_state(2, 4)
    message = tick_until_fault(bench, 2)
    assert "j2" in message


def test_manager_that_ends_in_a_stiff_mode_leaves_soft_drives(bench) -> None:
    make_stiff(bench)
    request_damping(bench)
    bench.tick(14)
    assert set(bench.of_drives("pos_reg")) == {515}  # the 300 ms have not passed
    bench.tick(6)
    assert bench.of_drives("pos_reg") == [0] * 4
    assert bench.of_drives("vel_reg") == [56] * 4
    assert bench.of_drives("gate") == [1] * 4


def test_a_slow_mailbox_is_left_to_the_softening(make_any_bench) -> None:
    """Such a drive takes one request in each answer's time: readings of its gains came first."""
    bench = make_any_bench(1)
    bench.activate()
    make_stiff(bench)
    bench.control.mailbox_delay(0.35)  # longer than the softening waits for an answer
    bench.control.log()
    request_damping(bench)
    bench.tick(100)
    assert bench.of_drives("pos_reg") == [0]
    kinds = [kind for _, _, kind, _ in bench.control.log()]
    assert "write" in kinds
    assert "read" not in kinds


def test_a_slow_mailbox_is_not_filled_with_the_same_writes(bench) -> None:
    make_stiff(bench)
    bench.control.mailbox_delay(0.09)  # four writes and their reading take 0.7 s
    bench.control.log()
    request_damping(bench)
    bench.tick(int(3.0 / bench.period))
    assert bench.of_drives("pos_reg") == [0] * 4
    writes = [line for line in bench.control.log() if line[2] == "write"]
    assert len(writes) <= 2 * 4 * len(bench.of_drives("pos_reg"))


def test_drive_with_a_slow_mailbox_recovers_while_faults_are_cleared_in_every_tick(bench) -> None:
    """A client that keeps clearing faults must not fill the mailbox with readings of the error."""
    make_stiff(bench)
    bench.control.mailbox_delay(0.05)
    bench.control.drive_error(2, 0x8500)
    tick_until_fault(bench, 5)
    request_damping(bench)
    for _ in range(int(3.0 / bench.period)):
        bench.system.reset_faults()
        bench.tick()
    assert bench.of_drives("statusword") == [HEALTHY] * 4


def test_nine_are_softened_although_the_tenth_is_dead(make_any_bench) -> None:
    bench = make_any_bench(10)
    bench.activate()
    make_stiff(bench)
    bench.control.freeze_firmware(4)  # in OP, its ESC answers, its mailbox never
    bench.control.power_off(9)
    request_damping(bench)
    bench.tick(25)
    softened = [bench.of_drives("pos_reg")[slave] for slave in (0, 1, 2, 3, 5, 6, 7, 8)]
    assert softened == [0] * 8
    assert bench.of_drives("pos_reg")[4] == 515


def test_gains_that_survived_a_cut_are_read_again_after_the_reset(bench) -> None:
    bench.enter(Mode.DAMPING, 2, 0.0, 6.0)
    bench.control.cut(1)
    bench.tick(30)
    assert not bench.system.impedance_confirmed()
    bench.control.mend()
    mended(bench)
    bench.tick(10)
    assert bench.system.impedance_confirmed()
    assert np.isfinite(bench.system.realized_stiffness()).all()


def cut_in_a_stiff_mode(bench: Bench) -> None:
    """Cut the cable behind j1 in STANDBY for so long that the drives leave OP; fall to DAMPING."""
    make_stiff(bench)
    bench.control.cut(1)
    bench.tick(30)
    request_damping(bench)
    bench.tick(5)
    bench.control.mend()
    assert bench.of_drives("pos_reg")[2:] == [515] * 2


def test_drives_that_kept_stiff_gains_behind_a_cut_are_soft_before_they_are_enabled(bench) -> None:
    cut_in_a_stiff_mode(bench)
    registers = gains_to_registers(0.0, np.full(4, 6.0), torque_constant=0.132e-3, gear=50.0)
    bench.system.reset_faults()
    enabled_with = set()
    for _ in range(int(2.0 / bench.period)):
        bench.state_impedance(registers, confirmed=False)  # the impedance manager is about to write
        bench.tick()
        words, gains = bench.of_drives("statusword"), bench.of_drives("pos_reg")
        enabled_with |= {(slave, gains[slave]) for slave in (2, 3) if words[slave] == HEALTHY}
    assert enabled_with == {(2, 0), (3, 0)}
    assert bench.system.safety().level is SafetyLevel.OK


def test_drives_whose_stiff_gains_can_not_be_replaced_are_not_enabled_and_named(bench) -> None:
    cut_in_a_stiff_mode(bench)
    bench.publishing = False  # no SDO write is allowed
    bench.system.reset_faults()
    bench.tick(int(RECOVERY_TIMEOUT / bench.period) + 10)
    assert [word == HEALTHY for word in bench.of_drives("statusword")] == [True, True, False, False]
    report = bench.system.safety()
    assert "j2, j3: not enabled: the gains of the mode in force" in report.message
    assert "DRIVE_NOT_READY" in report.codes
    bench.publishing = True
    mended(bench)
    assert bench.of_drives("pos_reg") == [0] * 4


def test_drives_that_receive_without_an_answer_are_disabled(bench) -> None:
    """Their watchdogs get frames, their gains cannot change: only the controlword remains."""
    bench.control.late(1.0, 0.03)
    bench.tick(5)
    assert bench.of_drives("statusword") == [HEALTHY] * 4
    bench.tick(8)
    assert HEALTHY not in bench.of_drives("statusword")
    bench.control.late(0.0, 0.0)
    mended(bench)
    assert bench.of_drives("statusword") == [HEALTHY] * 4


def test_error_that_no_reset_clears_is_reported_as_such_and_not_reset_for_ever(bench) -> None:
    bench.control.drive_error(1, 0x730F)
    tick_until_fault(bench, 2)
    bench.tick(3)
    bench.system.reset_faults()
    bench.tick(200)
    message = bench.system.safety().message
    assert "j1: " in message
    assert "error 0x730F battery of the multi-turn encoder is low" in message
    assert "a fault reset does not clear it: change the drive's battery" in message
    assert "power off and on" in message
    assert "calibration" in message
    assert not bench.system._operation._recovery.active
    words = set()
    bench.time.on_sleep = lambda _: words.add(int(bench.system._ring.image.controlword[1]))
    bench.tick(20)
    assert 0x80 not in words
    assert [bench.of_drives("statusword")[i] for i in (0, 2, 3)] == [HEALTHY] * 3


def test_battery_error_of_a_drive_whose_reset_clears_it_is_reset(make_bench) -> None:
    bench = make_bench(1, assume={"reset_clears_battery_error": True})
    bench.activate()
    bench.tick(5)
    bench.control.drive_error(0, 0x730F)
    bench.tick(3)
    mended(bench)
    assert bench.of_drives("statusword") == [HEALTHY]
