"""An unmodified third-party master finds, configures and drives the ring."""

import struct

import pytest

MS = 0.001  # [s]


@pytest.mark.parametrize("slaves", [1, 10])
def test_slaves_are_found_with_identity_and_name(make_soem, slaves):
    master = make_soem(slaves)
    assert master.find() == slaves
    for slave in master.slaves:
        assert (slave.man, slave.id, slave.name) == (0x5A65726F, 0x00029252, "eRob")


def test_ten_drives_come_to_operation_enabled_and_follow(make_soem):
    master = make_soem(10)
    assert master.find() == 10
    assert master.configure() == 200
    assert master.request(4) == 4
    assert master.cycle(320) == 30 == master.soem.expected_wkc
    assert master.request(8) == 8
    master.enable()
    assert [inputs[0] for inputs in master.inputs()] == [5687] * 10
    master.ring.control.set_joint(3, 0.5, 0.0)
    master.cycle(3, 0x0F)
    assert master.inputs()[3][1] == pytest.approx(0.5 * 524288 / 6.283185307, abs=400)


def test_statuswords_walk_from_disabled_to_enabled(make_soem):
    master = make_soem(2)
    master.operational()
    seen = []
    for controlword in (0x00, 0x06, 0x07, 0x0F):
        master.cycle(3, controlword)
        seen.append(master.inputs()[0][0] & 0x6F)
    assert seen == [0x40, 0x21, 0x23, 0x27]


def test_objects_are_read_in_one_in_segments_and_refused_with_a_code(make_soem):
    master = make_soem(1)
    master.find()
    (slave,) = master.slaves
    assert slave.sdo_read(0x1000, 0) == struct.pack("<I", 0x00020192)
    assert slave.sdo_read(0x1008, 0) == b"eRob"
    assert struct.unpack("<I", slave.sdo_read(0x1018, 1)) == (0x5A65726F,)
    for index, subindex, code in [(0x5555, 0, 0x06020000), (0x1018, 99, 0x06090011)]:
        with pytest.raises(master.pysoem.SdoError) as refusal:
            slave.sdo_read(index, subindex)
        assert refusal.value.abort_code & 0xFFFFFFFF == code
    for data, code in [(b"\0" * 5, 0x06070012), (b"\0", 0x06070013)]:
        with pytest.raises(master.pysoem.SdoError) as refusal:
            slave.sdo_write(0x2381, 1, data)
        assert refusal.value.abort_code & 0xFFFFFFFF == code
    with pytest.raises(master.pysoem.SdoError) as refusal:
        slave.sdo_write(0x1000, 0, bytes(4))
    assert refusal.value.abort_code & 0xFFFFFFFF == 0x06010002


def test_gains_are_written_and_read_back(make_soem):
    master = make_soem(1)
    master.find()
    (slave,) = master.slaves
    for index, subindex, value in [
        (0x2381, 1, 19),
        (0x2382, 1, 515),
        (0x2381, 2, 0),
        (0x2383, 0, 1),
    ]:
        slave.sdo_write(index, subindex, struct.pack("<i", value))
        assert slave.sdo_read(index, subindex) == struct.pack("<i", value)
    report = master.ring.control.drives()[0]
    assert (report["vel_reg"], report["pos_reg"], report["gate"]) == (19, 515, 1)


def test_a_record_is_read_and_written_as_a_whole(make_soem):
    master = make_soem(1)
    master.find()
    (slave,) = master.slaves
    whole = slave.sdo_read(0x1A00, 0, 256, True)
    assert whole == struct.pack("<BB4I", 4, 0, 0x60410010, 0x60640020, 0x606C0020, 0x60770010)
    shorter = struct.pack("<BB2I", 2, 0, 0x60640020, 0x60410010)
    slave.sdo_write(0x1A00, 0, shorter, True)
    assert slave.sdo_read(0x1A00, 0, 256, True) == shorter
    assert slave.sdo_read(0x1A00, 0) == b"\2"


def test_the_dictionary_describes_itself(make_soem):
    master = make_soem(1)
    master.find()
    described = {entry.index: entry for entry in master.slaves[0].od}
    assert {0x1000, 0x1018, 0x1600, 0x2381, 0x6041, 0x607A} <= described.keys()
    assert described[0x6041].name == b"Statusword"
    assert described[0x2381].entries[1].bit_length == 32


@pytest.mark.parametrize("delay_ms", [0, 2, 5])
def test_a_slow_mailbox_is_waited_for(make_soem, delay_ms):
    master = make_soem(2, mailbox_delay_ms=delay_ms, clock="wall")
    master.find()
    assert master.slaves[1].sdo_read(0x1000, 0) == struct.pack("<I", 0x00020192)


def test_without_distributed_clocks_safeop_is_refused(make_soem):
    master = make_soem(1)
    master.find()
    master.soem.manual_state_change = True
    master.soem.config_map()
    master.request(4)
    master.soem.read_state()
    assert (master.slaves[0].state, master.slaves[0].al_status) == (0x12, 0x0030)


def test_lost_frames_lower_the_working_counter_for_a_few_exchanges(make_soem):
    master = make_soem(2)
    master.operational()
    master.ring.control.drop_next(1)
    assert master.exchange() != 6
    assert master.cycle(3) == 6


def test_a_slave_without_power_takes_those_behind_it_and_comes_back(make_soem):
    master = make_soem(3)
    master.operational()
    master.ring.control.power_off(1)
    assert master.exchange() == 3
    master.ring.control.power_on(1)
    assert master.exchange() == 6
    slave = master.slaves[1]
    assert slave.recover(500)
    assert slave.reconfig(500)
    report = master.ring.control.drives()[1]
    assert report["gate"] == 0
    assert report["al_state"] in (2, 4)


def test_a_cut_cable_leaves_the_first_slaves(make_soem):
    master = make_soem(3)
    master.operational()
    master.ring.control.cut(0)
    assert master.exchange() == 3
    master.ring.control.cut(-1)
    assert master.exchange() < 0
    master.ring.control.mend()
    assert master.exchange() == 9


def test_master_detects_changed_identities_and_swapped_slaves(make_soem):
    master = make_soem(3)
    master.ring.control.identity(2, 0x5A65726F, 0x1234)
    master.ring.control.swap(0, 2)
    master.find()
    assert [slave.id for slave in master.slaves] == [0x1234, 0x29252, 0x29252]


def test_a_drive_error_is_in_statusword_code_and_history_until_it_is_reset(make_soem):
    master = make_soem(1)
    master.operational()
    master.enable()
    master.ring.control.drive_error(0, 0x8500)
    master.exchange()
    assert master.inputs()[0][0] == 4616
    assert master.slaves[0].sdo_read(0x603F, 0) == b"\x00\x85"
    assert master.slaves[0].sdo_read(0x1003, 1)[:2] == b"\x00\x85"
    master.enable()
    assert master.inputs()[0][0] == 5687


def test_the_log_has_request_and_slave(make_soem):
    master = make_soem(2)
    master.find()
    master.ring.control.log()
    master.slaves[1].sdo_write(0x2381, 1, struct.pack("<i", 56))
    lines = [(slave, kind, detail) for _, slave, kind, detail in master.ring.control.log()]
    assert [line[:2] for line in lines] == [(1, "request"), (1, "write")]
    assert lines[1][2] == {
        "index": 0x2381, "subindex": 1, "value": 56, "complete": False, "abort": 0
    }  # fmt: skip


def test_process_data_flow_on_the_wall_clock(make_soem):
    master = make_soem(10, clock="wall")
    master.find()
    assert master.configure(cycle=0.02) == 200
    master.soem.state = 4
    master.soem.write_state()
    assert master.soem.state_check(4, 1_000_000) == 4
    for _ in range(300):
        assert master.exchange() == 30
    assert master.ring.control.statistics()["process_data_frames"] >= 300
