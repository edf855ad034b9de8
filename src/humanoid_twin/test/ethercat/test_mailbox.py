"""The two mailbox buffers: full, empty, repeated, slow and silent."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_erob.protocol.mailbox import decode_mailbox
from humanoid_twin.ethercat.firmware import AlState

if TYPE_CHECKING:
    from src.humanoid_twin.test.ethercat.conftest import Master

READ_DEVICE_TYPE = bytes.fromhex("0020 40 0010 00 00000000".replace(" ", ""))
DEVICE_TYPE = bytes.fromhex("0030 43 0010 00 92010200".replace(" ", ""))


@pytest.fixture
def mailbox(master: Master) -> Master:
    """A master with slaves in PREOP."""
    master.preop()
    return master


def test_a_request_is_answered_at_once_without_delay(mailbox):
    assert mailbox.put_message(0, READ_DEVICE_TYPE) == 1
    assert mailbox.get_message(0) == DEVICE_TYPE


def test_an_answer_is_there_after_the_delay_and_not_before(mailbox):
    mailbox.ring.slaves[0].mailbox.delay = 2e6
    mailbox.put_message(0, READ_DEVICE_TYPE)
    mailbox.wait(0.0019)
    assert mailbox.get_message(0) is None
    mailbox.wait(0.0001)
    assert mailbox.get_message(0) == DEVICE_TYPE


def test_slow_slaves_are_slow_side_by_side(mailbox):
    for slave in range(3):
        mailbox.ring.slaves[slave].mailbox.delay = 2e6
        mailbox.put_message(slave, READ_DEVICE_TYPE)
    mailbox.wait(0.002)
    assert [mailbox.get_message(slave) for slave in range(3)] == [DEVICE_TYPE] * 3


def test_an_empty_mailbox_cannot_be_read_and_an_answer_only_once(mailbox):
    assert mailbox.read(0, 0x1080, 128).counter == 0
    mailbox.put_message(0, READ_DEVICE_TYPE)
    assert mailbox.is_full(0)
    assert mailbox.read(0, 0x1080, 128).counter == 1
    assert not mailbox.is_full(0)
    assert mailbox.read(0, 0x1080, 128).counter == 0


def test_reading_a_part_keeps_the_answer_until_the_last_byte(mailbox):
    mailbox.put_message(0, READ_DEVICE_TYPE)
    assert mailbox.read(0, 0x1090, 16).counter == 0  # it begins at the first byte
    assert mailbox.read(0, 0x1080, 16).counter == 1
    assert mailbox.is_full(0)
    assert mailbox.read(0, 0x10FF, 1).counter == 1
    assert not mailbox.is_full(0)


def test_a_request_counts_from_its_last_byte_on(mailbox):
    message = bytes.fromhex("0a00000000 13".replace(" ", "")) + READ_DEVICE_TYPE
    assert mailbox.write(0, 0x1000, message) == 1
    assert not mailbox.is_full(0)
    assert mailbox.write(0, 0x107F, b"\0") == 1
    assert mailbox.get_message(0) == DEVICE_TYPE


def test_a_second_request_waits_in_the_buffer_and_a_third_is_refused(mailbox):
    mailbox.ring.slaves[0].mailbox.delay = 2e6
    assert mailbox.put_message(0, READ_DEVICE_TYPE) == 1
    assert not mailbox.number(0, 0x0805, 1) & 0x08
    assert mailbox.put_message(0, READ_DEVICE_TYPE) == 1
    assert mailbox.number(0, 0x0805, 1) & 0x08
    assert mailbox.put_message(0, READ_DEVICE_TYPE) == 0
    mailbox.wait(0.004)
    assert mailbox.get_message(0) == mailbox.get_message(0) == DEVICE_TYPE
    assert mailbox.get_message(0) is None


@pytest.mark.parametrize("counter", range(1, 8))
def test_a_request_that_comes_twice_is_answered_once(mailbox, counter):
    mailbox.put_message(0, READ_DEVICE_TYPE, counter)
    mailbox.put_message(0, READ_DEVICE_TYPE, counter)
    assert mailbox.get_message(0) == DEVICE_TYPE
    assert mailbox.get_message(0) is None


def test_counter_zero_is_never_a_repetition(mailbox):
    for _ in range(2):
        mailbox.put_message(0, READ_DEVICE_TYPE, 0)
        assert mailbox.get_message(0) == DEVICE_TYPE


def test_answers_are_counted_from_one_to_seven(mailbox):
    counters = []
    for _ in range(9):
        mailbox.put_message(0, READ_DEVICE_TYPE)
        assert mailbox.is_full(0)
        counters.append(decode_mailbox(mailbox.read(0, 0x1080, 128).data)[0].counter)
    assert counters == [1, 2, 3, 4, 5, 6, 7, 1, 2]


def test_a_lost_answer_is_given_again_when_the_repeat_bit_toggles(mailbox):
    mailbox.put_message(0, READ_DEVICE_TYPE)
    lost = mailbox.read(0, 0x1080, 128).data
    for bit in (b"\x03", b"\x01"):
        mailbox.write(0, 0x080E, bit)
        assert mailbox.number(0, 0x080F, 1) & 2 == bit[0] & 2
        assert mailbox.is_full(0)
        assert mailbox.read(0, 0x1080, 128).data == lost


def test_silent_mailbox_answers_after_its_repair(mailbox):
    mailbox.ring.slaves[0].mailbox.delay = math.inf
    mailbox.put_message(0, READ_DEVICE_TYPE)
    mailbox.wait(100.0)
    assert mailbox.get_message(0) is None
    mailbox.ring.slaves[0].mailbox.delay = 0
    assert mailbox.get_message(0) == DEVICE_TYPE


def test_init_empties_the_mailboxes(mailbox):
    mailbox.put_message(0, READ_DEVICE_TYPE)
    mailbox.request(AlState.INIT)
    mailbox.preop()
    assert mailbox.get_message(0) is None


def test_no_slave_serves_mailboxes_in_init(master):
    master.number_slaves()
    master.set_mailboxes(0)
    assert master.put_message(0, READ_DEVICE_TYPE) == 1
    assert master.number(0, 0x0805, 1) & 0x08
    assert master.put_message(0, READ_DEVICE_TYPE) == 0


def test_message_of_another_protocol_is_answered_with_a_mailbox_error(mailbox):
    mailbox.put_message(0, bytes(10), kind=4)  # file access
    assert mailbox.is_full(0)
    header, payload = decode_mailbox(mailbox.read(0, 0x1080, 128).data)
    assert (header.type, payload) == (0, b"\1\0\2\0")


def test_an_emergency_waits_its_turn_in_the_mailbox(mailbox):
    mailbox.ring.slaves[0].emergency(0x8500)
    mailbox.put_message(0, READ_DEVICE_TYPE)
    assert mailbox.get_message(0)[:4].hex() == "00100085"
    assert mailbox.get_message(0) == DEVICE_TYPE


@given(messages=st.lists(st.binary(min_size=1, max_size=128), max_size=8))
def test_any_message_is_taken_or_refused_and_the_next_request_is_served(new_master, messages):
    mailbox = new_master(1)
    mailbox.preop()
    for message in messages:
        mailbox.write(0, 0x1000, message.ljust(128, b"\0"))
        while mailbox.get_message(0) is not None:
            pass
    mailbox.put_message(0, READ_DEVICE_TYPE, 0)
    assert mailbox.get_message(0) == DEVICE_TYPE
