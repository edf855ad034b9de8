"""The registers of the clocks are decoded by the layout of the specification."""

from __future__ import annotations

import struct

import pytest

from humanoid_devices_erob.master.distributed_clock import (
    SYNC_UNIT,
    SYSTEM_TIME,
    sync0_is_on,
    time_difference,
    unset_clocks,
)

EPOCH = 833_000_000_000_000_000  # [ns]


def astray(times: list[int], delays: list[int]) -> list[int]:
    def read(slave: int, address: int, length: int) -> bytes:
        memory = bytearray(0x0A00)
        struct.pack_into("<Q", memory, 0x0910, times[slave])
        struct.pack_into("<I", memory, 0x0928, delays[slave])
        return bytes(memory[address : address + length])

    return unset_clocks(len(times), read)


def test_clocks_that_were_set_are_not_astray() -> None:
    assert astray([EPOCH, EPOCH + 40_000, EPOCH + 90_000], [0, 700, 1400]) == []


@pytest.mark.parametrize("time", [0, 123_456, EPOCH - 1, EPOCH + 2_000_000_000])
def test_clock_without_its_offset_is_found(time: int) -> None:
    assert astray([EPOCH, time, EPOCH + 90_000], [0, 700, 1400]) == [1]


@pytest.mark.parametrize("delay", [0x80000000, 5_000_000])
def test_delay_that_cannot_be_is_found(delay: int) -> None:
    assert 1 in astray([EPOCH, EPOCH + 1, EPOCH + 2], [0, delay, 1400])


def test_delay_below_that_of_the_slave_before_is_found() -> None:
    assert astray([EPOCH, EPOCH + 1, EPOCH + 2], [0, 700, 0]) == [2]


@pytest.mark.parametrize(("word", "difference"), [(400, 400), (0x80000190, 400), (0, 0)])
def test_difference_is_sign_and_magnitude(word: int, difference: int) -> None:
    assert time_difference(word.to_bytes(4, "little")) == difference


@pytest.mark.parametrize(
    ("activation", "start", "period", "is_on"),
    [
        (3, EPOCH + 1, 20_000_000, True),
        (0, EPOCH + 1, 20_000_000, False),
        (3, 100_000_000, 20_000_000, False),  # the slave did not set its time: it is long ago
        (3, EPOCH + 1, 1_000_000, False),
    ],
)
def test_sync0_is_on_only_if_all_of_it_arrived(activation, start, period, is_on) -> None:
    memory = bytearray(0x0A00)
    memory[0x0981] = activation
    struct.pack_into("<Q", memory, 0x0990, start)
    struct.pack_into("<I", memory, 0x09A0, period)
    address, length = SYNC_UNIT
    assert sync0_is_on(bytes(memory[address : address + length]), 20_000_000, EPOCH) is is_on
    assert SYSTEM_TIME == (0x0910, 0x092C - 0x0910)
