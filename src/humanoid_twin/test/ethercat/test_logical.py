"""Logical memory through FMMUs: to the byte, to the bit, over buffers of several slaves."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_erob.protocol.frame import Command, Datagram

FREE = 0x2000  # RAM that no sync manager has


def fmmu(logical, length, physical, kind, bits=(0, 7, 0), active=1) -> bytes:
    first, last, offset = bits
    return struct.pack("<IHBBHBBBxxx", logical, length, first, last, physical, offset, kind, active)


def logical(master, command, address, data):
    return master.send(Datagram(command, address, data))[0]


@pytest.mark.parametrize(("command", "counter"), [("LRD", 3), ("LWR", 3), ("LRW", 9)])
def test_reading_counts_one_writing_one_and_both_three(master, command, counter):
    master.safeop()
    image = 3 * 8 + 3 * 12
    assert logical(master, Command[command], 0, bytes(image)).counter == counter


def test_a_datagram_of_a_part_reaches_the_slaves_in_it(master):
    master.safeop()
    assert logical(master, Command.LRW, 8, bytes(8)).counter == 2  # outputs of the second
    assert logical(master, Command.LRW, 4, bytes(8)).counter == 4
    assert logical(master, Command.LRD, 24 + 12, bytes(24)).counter == 2
    assert logical(master, Command.LRW, 5000, bytes(8)).counter == 0


def test_half_of_the_outputs_is_no_new_data(master):
    master.operational()
    master.wait(0.001)
    process = master.ring.slaves[0].process
    assert not process.fresh
    logical(master, Command.LWR, 0, bytes(4))
    assert not process.fresh
    logical(master, Command.LWR, 0, bytes(8))
    assert process.fresh


def test_outputs_written_by_address_count_as_outputs(master):
    master.safeop()
    master.write(1, 0x1100, struct.pack("<Hibx", 6, 1, 8))
    assert [slave.process.fed for slave in master.ring.slaves] == [False, True, False]


def test_an_inactive_fmmu_maps_nothing(master):
    master.preop()
    master.write(0, 0x0600, fmmu(0, 4, FREE, 1, active=0))
    assert logical(master, Command.LRD, 0, bytes(4)).counter == 0
    master.write(0, 0x060C, b"\1")
    assert logical(master, Command.LRD, 0, bytes(4)).counter == 1


def test_a_bit_of_a_register_is_mapped_to_a_bit_of_the_image(master):
    """Masters map the state of mailboxes into their process image."""
    master.preop()
    for slave in range(3):
        bit = (slave, slave, 3)
        master.write(slave, 0x0620, fmmu(0x100, 1, 0x080D, 1, bit))
    assert logical(master, Command.LRD, 0x100, b"\xf8").data == b"\xf8"
    master.put_message(1, bytes.fromhex("00204000100000000000"))
    answer = logical(master, Command.LRD, 0x100, b"\xf8")
    assert (answer.data, answer.counter) == (b"\xfa", 3)


@given(
    st.integers(0, 7), st.integers(0, 7), st.integers(1, 40), st.binary(min_size=16, max_size=16)
)
def test_bits_go_where_the_fmmu_maps_them_and_nowhere_else(new_master, first, offset, bits, data):
    master = new_master(1)
    master.number_slaves()
    length, last = (first + bits + 7) // 8, (first + bits - 1) % 8
    master.write(0, FREE, b"\xaa" * 16)
    master.write(0, 0x0600, fmmu(4, length, FREE + 4, 2, (first, last, offset)))
    assert logical(master, Command.LWR, 0, data).counter == 1
    sent = int.from_bytes(data, "little") >> 32 + first & (1 << bits) - 1
    before = int.from_bytes(b"\xaa" * 16, "little")
    mask = (1 << bits) - 1 << 32 + offset
    expected = before & ~mask | sent << 32 + offset
    assert int.from_bytes(master.read(0, FREE, 16).data, "little") == expected

    master.write(0, 0x0600, fmmu(4, length, FREE + 4, 1, (first, last, offset)))
    answer = logical(master, Command.LRD, 0, bytes(16))
    assert int.from_bytes(answer.data, "little") == sent << 32 + first


def test_a_slave_takes_what_was_there_before_it_gives(master):
    """With both directions on the same bytes, slaves pass data down the line."""
    master.number_slaves()
    for slave in range(2):
        master.write(slave, FREE, bytes([slave + 1]) * 4)
        master.write(slave, 0x0600, fmmu(0, 4, FREE, 1))
        master.write(slave, 0x0610, fmmu(0, 4, FREE + 0x100, 2))
    answer = logical(master, Command.LRW, 0, b"\x63" * 4)
    assert (answer.data, answer.counter) == (b"\2" * 4, 6)
    assert master.read(0, FREE + 0x100, 4).data == b"\x63" * 4
    assert master.read(1, FREE + 0x100, 4).data == b"\1" * 4


def test_an_fmmu_that_points_nowhere_does_not_count(master):
    master.number_slaves()
    master.write(0, 0x0600, fmmu(0, 64, 0xFFF0, 1))
    master.write(0, 0x0610, fmmu(0, 64, 0xFFF0, 2))
    assert logical(master, Command.LRW, 0, bytes(64)).counter == 0


def test_changed_fmmus_take_effect_with_the_next_frame(master):
    master.safeop()
    assert logical(master, Command.LRW, 0, bytes(60)).counter == 9
    master.write(0, 0x0600, bytes(32))
    assert logical(master, Command.LRW, 0, bytes(60)).counter == 6
    master.ring.chain.cut(1)
    master.ring.changed()
    assert logical(master, Command.LRW, 0, bytes(60)).counter == 3
