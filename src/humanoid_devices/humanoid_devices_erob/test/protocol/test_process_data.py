"""PDO mapping and CiA 402 words against numbers of the vendor's documents and of CiA 402."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_erob.protocol import cia402, pdo
from humanoid_devices_erob.protocol.cia402 import DriveState
from humanoid_devices_erob.protocol.errors import ProtocolError


def test_the_mapping_entries_are_those_of_the_vendor_demo() -> None:
    assert [entry.packed for entry in pdo.RX_MAPPING] == [
        0x60400010, 0x607A0020, 0x60600008, 0x00000008,
    ]  # fmt: skip
    assert [entry.packed for entry in pdo.TX_MAPPING] == [
        0x60410010, 0x60640020, 0x606C0020, 0x60770010,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("mapping", "size"), [(pdo.RX_MAPPING, pdo.RX_BYTES), (pdo.TX_MAPPING, pdo.TX_BYTES)]
)
def test_the_number_of_bytes_is_that_of_the_mapping(mapping: tuple, size: int) -> None:
    assert sum(entry.bits for entry in mapping) == 8 * size


def test_process_data_is_packed_little_endian_with_its_padding() -> None:
    assert pdo.RX_STRUCT.pack(0x000F, -2, 8).hex(" ") == "0f 00 fe ff ff ff 08 00"
    inputs = bytes.fromhex("37 16 01 00 00 00 ff ff ff ff fe ff")
    assert pdo.TX_STRUCT.unpack(inputs) == (0x1637, 1, -1, -2)


@given(st.integers(0, 2**32 - 1))
def test_every_mapping_entry_survives_packing(packed: int) -> None:
    assert pdo.PdoEntry.unpacked(packed).packed == packed


@pytest.mark.parametrize("number", [-1, 2**32])
def test_a_mapping_entry_has_32_bits(number: int) -> None:
    with pytest.raises(ProtocolError):
        pdo.PdoEntry.unpacked(number)


@pytest.mark.parametrize(
    ("statusword", "state"),
    [
        (0x0000, DriveState.NOT_READY_TO_SWITCH_ON),
        (592, DriveState.SWITCH_ON_DISABLED),
        (561, DriveState.READY_TO_SWITCH_ON),
        (563, DriveState.SWITCHED_ON),
        (5687, DriveState.OPERATION_ENABLED),
        (0x0207, DriveState.QUICK_STOP_ACTIVE),
        (0x020F, DriveState.FAULT_REACTION_ACTIVE),
        (0x022F, DriveState.FAULT_REACTION_ACTIVE),
        (4616, DriveState.FAULT),
        (520, DriveState.FAULT),
        (0x0228, DriveState.FAULT),
        (0x0022, DriveState.UNKNOWN),
        (0x0061, DriveState.UNKNOWN),
        (0x0067, DriveState.UNKNOWN),
    ],
)
def test_a_statusword_contains_the_state(statusword: int, state: DriveState) -> None:
    assert cia402.decode_state(statusword) is state


@given(st.integers(0, 0xFFFF))
def test_bits_outside_the_state_mask_change_no_state(statusword: int) -> None:
    state = cia402.decode_state(statusword)
    assert cia402.decode_state(statusword ^ 0b1111_1111_1001_0000) is state
