"""The ring of another robot is refused, with the name of the slave that differs."""

from __future__ import annotations

import pytest

from humanoid_devices_erob.bring_up.identity import check_identities, check_serial_numbers
from humanoid_devices_erob.errors import IdentityError
from humanoid_devices_erob.settings import Identity

EROB = Identity(0x5A65726F, 0x00029252)
JOINTS = ("shoulder", "elbow", "wrist")


def test_the_expected_ring_is_accepted() -> None:
    check_identities([EROB] * 3, EROB, JOINTS, "eth0")


@pytest.mark.parametrize(
    ("count", "message"),
    [
        (0, "found 0 slaves, expected 3; check power and the cable to slave 0 .shoulder"),
        (2, "found 2 slaves, expected 3; the last that answers is slave 1 .elbow.*slave 2 .wrist"),
        (5, "found 5 slaves, expected 3; 2 more behind wrist"),
    ],
)
def test_wrong_count_names_where_the_ring_ends(count: int, message: str) -> None:
    with pytest.raises(IdentityError, match=message):
        check_identities([EROB] * count, EROB, JOINTS, "eth0")


def test_wrong_product_and_vendor_are_named_with_their_joints() -> None:
    found = [EROB, Identity(0x5A65726F, 0x1234), Identity(0x2, 0x00029252)]
    with pytest.raises(IdentityError) as raised:
        check_identities(found, EROB, JOINTS, "eth0")
    message = str(raised.value)
    assert "slave 1 (elbow): found vendor 0x5A65726F, product 0x00001234" in message
    assert "slave 2 (wrist): found vendor 0x00000002" in message
    assert "expected vendor 0x5A65726F, product 0x00029252" in message
    assert "shoulder" not in message


@pytest.mark.parametrize("word", [0, 0xFFFFFFFF])
def test_an_identity_that_no_drive_has_is_an_empty_eeprom(word: int) -> None:
    with pytest.raises(IdentityError, match=r"slave 1 .elbow.*EEPROM"):
        check_identities([EROB, Identity(word, word), EROB], EROB, JOINTS, "eth0")
    with pytest.raises(IdentityError, match=r"^((?!EEPROM).)*$"):
        check_identities([EROB, Identity(0x2, word), EROB], EROB, JOINTS, "eth0")


def test_swapped_drives_are_recognized_by_their_serial_numbers() -> None:
    with pytest.raises(IdentityError) as raised:
        check_serial_numbers([11, 33, 22], [11, 22, 33], JOINTS)
    message = str(raised.value)
    assert "slave 1 (elbow): found serial number 33, the drive of wrist, expected 22" in message
    assert "slave 2 (wrist): found serial number 22, the drive of elbow, expected 33" in message
    assert "shoulder)" not in message


def test_serial_numbers_are_read_only_if_one_is_expected() -> None:
    check_serial_numbers([11, 33, 22], [11, None, None], JOINTS)
