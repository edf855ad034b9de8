"""The content of the EEPROM, decoded by an independent reader."""

import struct

from humanoid_twin.ethercat.esc.sii import build_sii, checksum
from humanoid_twin.ethercat.parameters import Identity, SlaveParameters

PARAMETERS = SlaveParameters(
    identity=Identity(vendor=0x11223344, product=0x55667788, revision=9, serial=10, name="Arm"),
)


def words(content: bytes, start: int, form: str) -> tuple[int, ...]:
    return struct.unpack_from(form, content, 2 * start)


def categories(content: bytes) -> dict[int, bytes]:
    found, place = {}, 0x80
    while (kind := struct.unpack_from("<H", content, place)[0]) != 0xFFFF:
        size = 2 * struct.unpack_from("<H", content, place + 2)[0]
        found[kind] = content[place + 4 : place + 4 + size]
        place += 4 + size
    return found


def test_identity_and_mailboxes_are_at_their_words() -> None:
    content = build_sii(PARAMETERS)
    assert words(content, 0x08, "<4I") == (0x11223344, 0x55667788, 9, 10)
    assert words(content, 0x18, "<5H") == (0x1000, 128, 0x1080, 128, 0x0004)


def test_the_device_name_is_the_first_string() -> None:
    strings = categories(build_sii(PARAMETERS))[10]
    assert strings[0] == 1
    assert strings[2 : 2 + strings[1]] == b"Arm"


def test_coe_is_offered_with_complete_access_and_information() -> None:
    assert categories(build_sii(PARAMETERS))[30][5] == 0x2F


def test_sync_managers_are_mailboxes_outputs_inputs() -> None:
    lines = list(struct.iter_unpack("<HHBBBB", categories(build_sii(PARAMETERS))[41]))
    assert [line[0] for line in lines] == [0x1000, 0x1080, 0x1100, 0x1400]
    assert [line[1] for line in lines] == [128, 128, 8, 12]
    assert [line[5] for line in lines] == [1, 2, 3, 4]


def test_the_checksum_protects_the_configuration() -> None:
    content = build_sii(PARAMETERS)
    assert content[14] == checksum(content[:14])
    assert checksum(content[:15]) == 0  # a CRC over data and CRC
    assert checksum(b"\1" + content[1:14]) != content[14]
