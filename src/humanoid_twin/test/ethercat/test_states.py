"""A slave's way through the AL states, and the calls to its drive."""

import pytest

from humanoid_twin.ethercat.firmware import AlState
from humanoid_twin.ethercat.parameters import SlaveParameters

STATES = [AlState.PREOP, AlState.SAFEOP, AlState.OP]


def test_all_slaves_reach_op_and_inform_their_drives(master):
    master.operational()
    assert [master.al(slave) for slave in range(3)] == [(8, 0)] * 3
    for drive in master.drives:
        assert drive.states == STATES
        assert drive.faults == []


def test_preop_needs_mailboxes_at_the_addresses_of_the_eeprom(master):
    master.number_slaves()
    master.request(AlState.PREOP)
    assert master.al(0) == (0x11, 0x0016)
    master.set_mailboxes(0)
    master.request(0x11)
    master.request(AlState.PREOP, 0)
    assert master.al(0) == (2, 0)


def test_without_distributed_clocks_there_is_no_safeop(master):
    master.preop()
    master.set_process_data(0)
    master.request(AlState.SAFEOP, 0)
    assert master.al(0) == (0x12, 0x0030)


@pytest.mark.parametrize(("out", "into", "code"), [(7, 12, 0x001D), (8, 14, 0x001E)])
def test_buffers_must_have_the_size_of_the_mapping(master, out, into, code):
    master.preop()
    master.set_process_data(0, out, into)
    master.start_clock(0)
    master.request(AlState.SAFEOP, 0)
    assert master.al(0) == (0x12, code)


def test_a_sync0_period_that_the_drive_cannot_follow_is_refused(master):
    master.preop()
    master.set_process_data(0)
    master.start_clock(0, cycle=50_000)
    master.request(AlState.SAFEOP, 0)
    assert master.al(0) == (0x12, 0x0035)


def test_slave_refuses_op_before_outputs_have_arrived(master):
    master.safeop()
    master.request(AlState.OP)
    assert master.al(0) == (0x14, 0x001B)


def test_a_sync0_whose_start_was_over_never_fires_and_op_is_refused(master):
    master.preop()
    for slave in range(3):
        master.set_process_data(slave)
    master.write(0, 0x09A0, (1_000_000).to_bytes(4, "little"))
    master.write(0, 0x0990, (1).to_bytes(8, "little"))
    master.write(0, 0x0980, b"\0\3")
    master.request(AlState.SAFEOP, 0)
    master.exchange()
    master.request(AlState.OP, 0)
    assert master.al(0) == (0x14, 0x002D)


@pytest.mark.parametrize(
    ("manager", "control", "code"),
    [
        (0, 0x22, 0x16), (0, 0x24, 0x16), (1, 0x26, 0x16), (2, 0x60, 0x1D), (2, 0x66, 0x1D),
        (3, 0x24, 0x1E),
    ],
)  # fmt: skip
def test_a_sync_manager_of_the_wrong_direction_or_buffers_is_refused(
    new_master, manager, control, code
):
    master = new_master(1)
    master.number_slaves()
    master.set_mailboxes(0)
    if manager > 1:
        master.request(AlState.PREOP)
        master.set_process_data(0)
        master.start_clock(0)
    master.write(0, 0x0804 + 8 * manager, bytes([control]))
    target = AlState.PREOP if manager < 2 else AlState.SAFEOP
    master.write(0, 0x0120, bytes([target, 0]))
    master.wait(0.01)
    assert master.al(0) == (target - (1 if target == AlState.PREOP else 2) | 0x10, code)


def test_a_transition_takes_its_time(new_master):
    master = new_master(1, SlaveParameters(transition_seconds=0.05))
    master.number_slaves()
    master.set_mailboxes(0)
    master.write(0, 0x0120, b"\2\0")
    master.wait(0.049)
    assert master.al(0) == (1, 0)
    master.wait(0.002)
    assert master.al(0) == (2, 0)


def test_asking_again_does_not_make_a_transition_longer(new_master):
    master = new_master(1, SlaveParameters(transition_seconds=0.05))
    master.number_slaves()
    master.set_mailboxes(0)
    for _ in range(51):
        master.write(0, 0x0120, b"\2\0")
        master.wait(0.001)
    assert master.al(0) == (2, 0)


def test_outputs_reach_the_drive_at_sync0_in_op_only(master):
    master.outputs = [(0x0F, -5, 8)] * 3
    master.safeop()
    master.cycle(30)
    assert master.drives[0].latched == []
    master.operational()
    master.cycle(3)
    assert master.drives[2].latched[-1] == 0x0F
    assert master.drives[2].values[0x607A] == -5
    assert master.drives[2].values[0x6060] == 8


def test_inputs_are_those_of_the_last_sync0(master):
    master.operational()
    master.drives[1].values.update({0x6041: 5687, 0x6064: -123456, 0x606C: 77, 0x6077: -9})
    _, before = master.exchange()
    assert before[1] == (0, 0, 0, 0)
    master.wait(0.001)
    _, after = master.exchange()
    assert after[1] == (5687, -123456, 77, -9)
    assert after[0] == after[2] == (0, 0, 0, 0)


def test_the_working_counter_is_three_for_each_slave_with_process_data(master):
    master.preop()
    for slave in range(3):
        master.set_process_data(slave)
    assert master.exchange()[0] == 0  # buffers are closed below SAFEOP
    for slave in range(3):
        master.start_clock(slave)
    master.request(AlState.SAFEOP)
    assert master.exchange()[0] == 9
    master.request(AlState.INIT, 1)
    assert master.exchange()[0] == 6


def test_without_frames_the_watchdog_takes_a_slave_to_safeop(master):
    master.operational()
    master.wait(0.098)
    assert master.al(0) == (8, 0)
    master.wait(0.004)
    assert master.al(0) == (0x14, 0x001B)
    assert all(drive.losses == 1 for drive in master.drives)
    assert master.exchange()[0] == 9  # a full working counter does not prove OP


def test_the_watchdogs_time_is_what_the_master_set(master):
    master.number_slaves()
    for slave in range(3):
        master.write(slave, 0x0420, (300).to_bytes(2, "little"))  # 30 ms
    master.operational()
    master.wait(0.032)
    assert master.al(0)[0] == 0x14


def test_a_watchdog_of_zero_never_expires(master):
    master.number_slaves()
    for slave in range(3):
        master.write(slave, 0x0420, bytes(2))
    master.operational()
    master.wait(1.0)
    assert master.al(0) == (8, 0)


def test_a_power_cycled_slave_starts_from_nothing(master):
    master.operational()
    master.ring.slaves[1].power(False)
    master.ring.slaves[1].power(True)
    master.ring.chain.update()
    master.ring.changed()
    assert master.exchange()[0] == 6
    assert master.read(1, 0x0130, 2).counter == 0  # it has no station address
    assert master.al(2) == (8, 0)
    assert master.drives[1].cycles == 2
    master.operational()
    assert master.exchange()[0] == 9


def test_a_dead_slave_hides_those_behind_it(master):
    master.operational()
    master.ring.slaves[1].power(False)
    master.ring.chain.update()
    master.ring.changed()
    assert master.exchange()[0] == 3
    steps = master.drives[1].steps
    master.wait(0.01)
    assert master.drives[1].steps == steps


def test_a_frozen_firmware_leaves_the_esc_alive(master):
    master.operational()
    master.ring.slaves[0].freeze(True)
    master.drives[0].values[0x6064] = 55
    steps, latched = master.drives[0].steps, len(master.drives[0].latched)
    master.cycle(5)
    counter, inputs = master.exchange()
    assert (counter, inputs[0][1]) == (9, 0)
    assert (master.drives[0].steps, len(master.drives[0].latched)) == (steps, latched)
    master.ring.slaves[0].freeze(False)
    master.cycle(2)
    assert master.exchange()[1][0][1] == 55


def test_drives_step_a_thousand_times_a_second_whatever_the_frames_do(new_master):
    still, busy = new_master(1), new_master(1)
    still.wait(0.5)
    for _ in range(333):
        busy.wait(0.0015)
    assert still.drives[0].steps == 500
    assert busy.drives[0].steps == 499
