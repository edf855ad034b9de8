"""Addressing and registers before any configuration by a master."""

import struct

import pytest

from humanoid_devices_erob.protocol.frame import (
    Command,
    Datagram,
    decode_frame,
    encode_frame,
    physical,
)

STATION = 0x1001


def test_a_broadcast_read_counts_the_slaves_and_their_position(new_master):
    for slaves in (1, 3, 40):
        answer = new_master(slaves).send(Datagram(Command.BRD, physical(0, 0), bytes(2)))[0]
        assert answer.counter == slaves
        assert answer.address == physical(slaves, 0)


@pytest.mark.parametrize("slaves", [1, 2])
@pytest.mark.parametrize("command", [Command.BRD, Command.BRW])
def test_a_broadcast_read_combines_memory_and_content_of_the_datagram(new_master, slaves, command):
    (answer,) = new_master(slaves).send(Datagram(command, physical(0, 0x0000), b"\x40"))
    assert answer.data == b"\x51"  # the ESC's type is 0x11


def test_of_two_slaves_with_one_address_the_last_one_is_read(new_master):
    master = new_master(2)
    for position, mark in ((0, b"\x10"), (1, b"\x03")):
        master.send(Datagram(Command.APWR, physical(-position, 0x0010), b"\x01\x10"))
        master.send(Datagram(Command.APWR, physical(-position, 0x2000), mark))
    (answer,) = master.send(Datagram(Command.FPRD, physical(STATION, 0x2000), b"\xff"))
    assert (answer.counter, answer.data) == (2, b"\x03")


def test_a_frame_comes_back_with_index_and_length_it_had(master):
    (answer,) = master.send(Datagram(Command.BRD, physical(0, 0), bytes(2), index=77))
    assert (answer.index, len(answer.data)) == (77, 2)


def test_an_esc_leaves_its_mark_in_the_source_address(master):
    frame = bytearray(encode_frame([Datagram(Command.NOP, 0, b"")]))
    frame[6:12] = bytes(6)
    assert master.ring.answer(memoryview(frame))
    assert frame[6] == 0x02


def test_slaves_are_numbered_by_position_and_answer_to_their_numbers(master):
    master.number_slaves()
    for slave in range(3):
        assert master.number(slave, 0x0010, 2) == STATION + slave
    answer = master.send(Datagram(Command.FPRD, physical(STATION + 3, 0), bytes(2)))[0]
    assert answer.counter == 0


def test_a_position_behind_the_last_slave_answers_nothing(master):
    answer = master.send(Datagram(Command.APRD, physical(-3, 0), bytes(1)))[0]
    assert (answer.counter, answer.address & 0xFFFF) == (0, 0)  # incremented by three slaves


def test_a_register_that_only_the_slave_sets_keeps_its_value(master):
    master.number_slaves()
    assert master.write(0, 0x0130, b"\x08\0") == 0
    assert master.al(0) == (1, 0)


def test_an_access_beyond_the_memory_does_not_count(master):
    master.number_slaves()
    assert master.read(0, 0xFFF0, 64).counter == 0
    assert master.write(0, 0xFFF0, bytes(64)) == 0
    assert master.read(0, 0x2FFF, 2).counter == 0
    assert master.read(0, 0x2FFF, 1).counter == 1


def test_read_and_write_in_one_counts_three_and_gives_the_old_value(master):
    master.number_slaves()
    master.write(0, 0x2000, b"old!")
    for command, station in ((Command.FPRW, STATION), (Command.APRW, 0)):
        (answer,) = master.send(Datagram(command, physical(station, 0x2000), b"new!"))
        assert (answer.counter, answer.data) == (3, b"old!")
        master.write(0, 0x2000, b"old!")


def test_a_broadcast_write_reaches_all_and_a_broadcast_read_is_their_or(master):
    master.number_slaves()
    (answer,) = master.send(Datagram(Command.BWR, physical(0, 0x2000), b"\x01"))
    assert answer.counter == 3
    master.write(2, 0x2000, b"\x08")
    (answer,) = master.send(Datagram(Command.BRD, physical(0, 0x2000), b"\x40"))
    assert answer.data == b"\x49"


def test_a_distributed_read_writes_one_slaves_bytes_to_all_others(master):
    master.number_slaves()
    master.write(1, 0x2000, b"mine")
    (answer,) = master.send(Datagram(Command.FRMW, physical(STATION + 1, 0x2000), bytes(4)))
    assert (answer.counter, answer.data) == (3, b"mine")
    assert [master.read(slave, 0x2000, 4).data for slave in range(3)] == [b"mine"] * 3


def test_the_link_ends_at_the_last_slave(master):
    master.number_slaves()
    status = [master.number(slave, 0x0110, 2) for slave in range(3)]
    port_1_open = [word >> 10 & 3 for word in status]
    assert port_1_open == [2, 2, 1]
    assert all(word >> 8 & 3 == 2 and word & 0xF000 == 0x5000 for word in status)


def read_eeprom(master, slave: int, word: int) -> bytes:
    assert master.write(slave, 0x0502, struct.pack("<HHH", 0x0100, word, 0)) == 1
    assert not master.number(slave, 0x0502, 2) & 0x8000  # not busy
    return master.read(slave, 0x0508, 8).data


def test_the_eeprom_is_read_eight_bytes_at_a_time(master):
    master.number_slaves()
    assert read_eeprom(master, 1, 0x08) == struct.pack("<II", 0x5A65726F, 0x00029252)
    assert read_eeprom(master, 1, 0xFFFF) == b"\xff" * 8


def test_the_eeprom_obeys_no_master_while_the_slave_owns_it(master):
    master.number_slaves()
    master.write(0, 0x0500, b"\1")
    assert master.write(0, 0x0502, struct.pack("<HHH", 0x0100, 8, 0)) == 0
    master.write(0, 0x0500, b"\2")
    assert master.write(0, 0x0502, struct.pack("<HHH", 0x0100, 8, 0)) == 1


def test_an_eeprom_word_is_written_only_if_that_is_enabled(master):
    master.number_slaves()
    word = 0x3F0
    master.write(0, 0x0508, b"\x34\x12")
    master.write(0, 0x0502, struct.pack("<HHH", 0x0200, word, 0))
    assert master.number(0, 0x0502, 2) & 0x2000
    assert read_eeprom(master, 0, word)[:2] == b"\xff\xff"
    master.write(0, 0x0508, b"\x34\x12")
    master.write(0, 0x0502, struct.pack("<HHH", 0x0201, word, 0))
    assert read_eeprom(master, 0, word)[:2] == b"\x34\x12"


def test_no_slave_answers_when_the_cable_is_cut_before_the_first(master):
    master.ring.chain.cut(-1)
    frame = bytearray(encode_frame([Datagram(Command.BRD, physical(0, 0), bytes(2))]))
    assert not master.ring.answer(memoryview(frame))


@pytest.mark.parametrize(("after", "left"), [(0, 1), (1, 2), (2, 3)])
def test_a_cut_cable_leaves_the_slaves_before_it(master, after, left):
    master.ring.chain.cut(after)
    (answer,) = master.send(Datagram(Command.BRD, physical(0, 0), bytes(2)))
    assert answer.counter == left
    master.ring.chain.cut(None)
    (answer,) = master.send(Datagram(Command.BRD, physical(0, 0), bytes(2)))
    assert answer.counter == 3


def test_bytes_after_a_malformed_datagram_pass_unchanged(master):
    frame = bytearray(
        encode_frame([Datagram(Command.BRD, 0, bytes(2)), Datagram(Command.BRD, 0, bytes(2))])
    )
    frame[36] = 0x55  # length of the second datagram: beyond the frame's end
    before = bytes(frame[30:])
    assert master.ring.answer(memoryview(frame))
    assert bytes(frame[30:]) == before
    assert frame[28] == 3


def test_frames_of_other_protocols_pass_unchanged(master):
    frame = bytearray(encode_frame([Datagram(Command.BRD, 0, bytes(2))]))
    frame[15] = 0x40  # EtherCAT automation protocol, not datagrams
    before = bytes(frame[14:])
    assert master.ring.answer(memoryview(frame))
    assert bytes(frame[14:]) == before
    assert decode_frame(encode_frame([Datagram(Command.BRD, 0, bytes(2))]))[0].counter == 0
