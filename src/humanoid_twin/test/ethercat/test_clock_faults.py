"""Distributed clocks: convergence, and each error that the drive answers with 0xA000."""

from itertools import pairwise

import pytest

from humanoid_control_common.errors import ConfigError
from humanoid_devices_erob.protocol.frame import Command, Datagram, physical
from humanoid_twin.ethercat.firmware import AlState
from humanoid_twin.ethercat.parameters import Clocks, SlaveParameters

DC_FRAME = Datagram(Command.FRMW, physical(0x1001, 0x0910), bytes(8))


def difference(master, slave: int) -> int:
    return master.number(slave, 0x092C, 4) & 0x7FFFFFFF


def test_the_difference_falls_with_each_dc_frame_and_with_nothing_else(master):
    master.number_slaves()
    first = difference(master, 1)
    master.wait(1.0)
    assert difference(master, 1) == first
    found = [first]
    for _ in range(297):
        master.send(DC_FRAME)
        found.append(difference(master, 1))
    assert all(later < earlier for earlier, later in pairwise(found))
    ratios = [later / earlier for earlier, later in pairwise(found)]
    assert ratios == pytest.approx([ratios[0]] * 297, rel=0.001)


def test_after_297_dc_frames_every_slave_is_below_the_limit(master):
    master.number_slaves()
    for _ in range(296):
        master.send(DC_FRAME)
    assert all(difference(master, slave) > 1000 for slave in range(3))
    master.send(DC_FRAME)
    assert all(difference(master, slave) <= 1000 for slave in range(3))


@pytest.mark.parametrize("register", [0x0920, 0x0930])
def test_setting_the_offset_or_the_filter_starts_again(master, register):
    master.number_slaves()
    for _ in range(300):
        master.send(DC_FRAME)
    master.write(0, register, b"\0\x10")
    assert difference(master, 0) > 900_000
    assert difference(master, 1) <= 1000


def drifting(new_master, **facts):
    """Three slaves whose clocks have just been locked."""
    clocks = Clocks(drift_ppm=20.0, **facts)
    master = new_master(3, SlaveParameters(clocks=clocks))
    master.number_slaves()
    for _ in range(300):
        master.send(DC_FRAME)
    return master


@pytest.mark.parametrize(("keeps_rate", "grown"), [(0.1, 18_000), (0.0, 20_000)])
def test_without_dc_frames_a_clock_drifts_from_the_reference(new_master, keeps_rate, grown):
    master = drifting(new_master, keeps_rate=keeps_rate)
    before = [difference(master, slave) for slave in range(3)]
    master.wait(1.0)
    after = [difference(master, slave) for slave in range(3)]
    assert after[0] == before[0]
    assert [b - a for a, b in zip(before[1:], after[1:], strict=True)] == [grown] * 2
    assert not master.ring.slaves[1].clock.locked
    master.send(DC_FRAME)
    assert difference(master, 1) < after[1]
    for _ in range(150):
        master.send(DC_FRAME)
    assert master.ring.slaves[1].clock.locked


def test_a_clock_that_keeps_its_rate_does_not_drift_between_regular_frames(new_master):
    master = drifting(new_master)
    for _ in range(50):
        master.wait(0.05)
        master.send(DC_FRAME)
    assert difference(master, 2) < 1000


def test_only_clocks_behind_a_cut_cable_drift(new_master):
    master = drifting(new_master)
    master.ring.chain.cut(1)
    for _ in range(100):
        master.wait(0.01)
        master.send(DC_FRAME)
    master.ring.chain.cut(None)
    assert difference(master, 1) < 1000
    assert difference(master, 2) == pytest.approx(19_000, abs=1000)


def test_op_with_a_clock_that_has_drifted_faults_the_drive(new_master):
    master = new_master(2, SlaveParameters(clocks=Clocks(drift_ppm=20.0)))
    master.operational()
    master.request(AlState.SAFEOP)
    master.wait(1.0)
    master.exchange()
    master.request(AlState.OP)
    assert [any("converged" in it for it in drive.faults) for drive in master.drives] == [
        False,
        True,
    ]


@pytest.mark.parametrize("name", ["drift_ppm", "keeps_rate"])
def test_a_clock_that_can_not_be_is_refused(name):
    with pytest.raises(ConfigError, match=name):
        Clocks(**{name: -1.0})


def test_the_system_time_is_local_time_plus_offset(master):
    master.number_slaves()
    before = master.number(1, 0x0910, 8)
    master.write(1, 0x0920, (5_000_000_000).to_bytes(8, "little"))
    assert master.number(1, 0x0910, 8) == before + 5_000_000_000
    master.wait(0.25)
    assert master.number(1, 0x0910, 8) == before + 5_250_000_000


def test_a_dc_frame_brings_the_reference_clocks_time(master):
    master.number_slaves()
    (answer,) = master.send(DC_FRAME)
    assert int.from_bytes(answer.data, "little") == master.number(0, 0x0910, 8)


def test_receive_times_are_those_of_a_line_of_equal_cables(master):
    master.number_slaves()
    assert master.send(Datagram(Command.BWR, physical(0, 0x0900), bytes(4)))[0].counter == 3
    out = [master.number(slave, 0x0900, 4) for slave in range(3)]
    back = [master.number(slave, 0x0904, 4) for slave in range(3)]
    loops = [(b - a) & 0xFFFFFFFF for a, b in zip(out, back, strict=True)]
    assert loops[:2] == [1500, 900]
    assert back[2] == 0
    assert master.number(0, 0x0918, 8) & 0xFFFFFFFF == out[0]


def test_op_before_convergence_faults_the_drive(master):
    master.safeop()
    master.cycle(200)
    master.request(AlState.OP)
    for drive in master.drives:
        assert len(drive.faults) == 1
        assert "converged" in drive.faults[0]
    assert master.al(0) == (8, 0)
    assert [inputs[0] for inputs in master.exchange()[1]] == [4616] * 3


def test_sync0_without_frames_again_and_again_faults_the_drive(master):
    master.operational()
    master.wait(0.010)
    assert [drive.faults for drive in master.drives] == [[], [], []]
    master.wait(0.002)
    assert all("again and again" in drive.faults[0] for drive in master.drives)
    assert master.exchange()[1][0][0] == 4616


@pytest.mark.parametrize("ratio", [2, 4, 20])
def test_a_control_frequency_above_the_frame_rate_faults(master, ratio):
    master.operational()
    for _ in range(40):
        master.exchange()
        master.wait(0.001 * ratio)
    assert master.drives[0].faults


@pytest.mark.parametrize("frames_per_period", [1, 2, 10])
def test_frames_as_often_as_sync0_or_more_never_fault(master, frames_per_period):
    master.operational()
    for _ in range(500):
        for _ in range(frames_per_period):
            master.exchange()
            master.wait(0.001 / frames_per_period)
    assert master.drives[0].faults == []


def test_one_lost_frame_in_a_hundred_never_faults(master):
    master.operational()
    for _ in range(20):
        master.cycle(99)
        master.wait(0.001)
    assert master.drives[0].faults == []


@pytest.mark.parametrize("limit", [3, 30])
def test_the_error_counter_adds_three_for_a_miss_and_takes_one_for_a_hit(new_master, limit):
    master = new_master(1, SlaveParameters(clocks=Clocks(error_limit=limit)))
    master.operational()
    supervision = master.ring.slaves[0].supervision
    master.cycle(3)
    assert supervision.errors == 0
    master.wait(0.001)
    assert supervision.errors == 3
    master.cycle(2)
    assert supervision.errors == 1
    misses = 0
    while not master.drives[0].faults:
        master.wait(0.001)
        misses += 1
    assert misses == (limit - 1) // 3 + 1


def test_switching_the_clock_off_in_op_faults_the_drive(master):
    master.operational()
    master.write(1, 0x0981, b"\0")
    assert master.drives[1].faults == ["distributed clock switched off in OP"]
    assert master.drives[0].faults == []
    assert master.exchange()[1][1][0] == 4616


def test_a_mailbox_request_during_activation_faults_that_slave_only(master):
    master.preop()
    for slave in range(3):
        master.set_process_data(slave)
        master.put_message(slave, b"\0\x20\x40\0\x10\0\0\0\0\0")
        assert master.get_message(slave)
    for slave in range(3):
        master.start_clock(slave)
    master.put_message(1, b"\0\x20\x40\0\x10\0\0\0\0\0")
    assert [len(drive.faults) for drive in master.drives] == [0, 1, 0]
    assert "activation" in master.drives[1].faults[0]


def test_polling_an_empty_mailbox_during_activation_is_harmless(master):
    master.safeop()
    assert not master.is_full(0)
    assert master.read(0, 0x1080, 128).counter == 0
    assert master.drives[0].faults == []


def test_mailbox_requests_in_op_are_harmless(master):
    master.operational()
    master.put_message(0, b"\0\x20\x40\0\x10\0\0\0\0\0")
    assert master.get_message(0)
    assert master.drives[0].faults == []
