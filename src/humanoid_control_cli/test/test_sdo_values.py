import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_cli.sdo.values import (
    Address,
    ArgumentError,
    ValueType,
    check_size,
    encode_value,
    format_value,
    parse_address,
    parse_positions,
    type_of_size,
)

NUMBERS = [kind for kind in ValueType if kind.size]


@pytest.mark.parametrize(
    ("word", "address"),
    [
        ("0x603F", Address(0x603F, 0)),
        ("24639", Address(0x603F, 0)),
        ("0x2381:1", Address(0x2381, 1)),
        ("0x1018:0x04", Address(0x1018, 4)),
    ],
)
def test_an_object_is_named_in_hexadecimal_or_decimal(word: str, address: Address) -> None:
    assert parse_address(word) == address


def test_an_address_is_written_as_the_documents_do() -> None:
    assert str(Address(0x603F, 0)) == "0x603F:00"


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("603F", "object index is '603F'"),
        ("0x10000", "object index is '0x10000', expected a number from 0 to 65535"),
        ("0x2381:256", "subindex is '256', expected a number from 0 to 255"),
        ("0x2381:x", "subindex is 'x'"),
        ("", "object index is ''"),
    ],
)
def test_malformed_object_address_is_refused(word: str, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        parse_address(word)


@pytest.mark.parametrize(
    ("word", "positions"),
    [("3", [3]), ("0-9", list(range(10))), ("0,5", [0, 5]), ("5,0-2,1", [5, 0, 1, 2])],
)
def test_ring_positions_are_numbers_lists_and_ranges(word: str, positions: list[int]) -> None:
    assert parse_positions(word) == positions


@pytest.mark.parametrize("word", ["", "-1", "9-0", "0-", "a", "65536", "0,,1"])
def test_malformed_ring_positions_are_refused(word: str) -> None:
    with pytest.raises(ArgumentError, match="ring position is"):
        parse_positions(word)


@given(st.sampled_from(NUMBERS), st.data())
def test_encoded_number_is_shown_as_the_same_number(kind: ValueType, data: st.DataObject) -> None:
    bits = 8 * (kind.size or 0)
    low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if kind.signed else (0, (1 << bits) - 1)
    value = data.draw(st.integers(low, high))
    encoded = encode_value(str(value), kind)
    assert len(encoded) == kind.size
    assert format_value(encoded, kind).startswith(f"{value} (0x")


@pytest.mark.parametrize(
    ("word", "kind", "message"),
    [
        ("256", ValueType.U8, "expected 0 to 255 for u8"),
        ("-1", ValueType.U16, "expected 0 to 65535 for u16"),
        ("0x80000000", ValueType.I32, "expected -2147483648 to 2147483647 for i32"),
        ("1.5", ValueType.I32, "value is '1.5', expected a number"),
    ],
)
def test_a_value_that_does_not_fit_is_refused(word: str, kind: ValueType, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        encode_value(word, kind)


def test_the_gains_are_known_to_be_signed_and_their_count_is_not() -> None:
    assert Address(0x2381, 1).known_type is ValueType.I32
    assert Address(0x2381, 0).known_type is ValueType.U8
    assert Address(0x3000, 0).known_type is None


def test_the_type_of_an_unknown_object_follows_from_its_size_and_the_sign() -> None:
    assert type_of_size(2, "5") is ValueType.U16
    assert type_of_size(4, "-5") is ValueType.I32
    with pytest.raises(ArgumentError, match="3 bytes"):
        type_of_size(3, "5")


@pytest.mark.parametrize(
    ("data", "kind", "text"),
    [
        (b"\x00\xa0", None, "40960 (0xA000), signed -24576"),
        (b"\x37\x16", None, "5687 (0x1637)"),
        (b"\xfe\xff\xff\xff", ValueType.I32, "-2 (0xFFFFFFFE)"),
        (b"eRob 70\0", None, "'eRob 70'"),
        (b"\x01\x02\x03", None, "01 02 03"),
        (b"", None, "no data"),
    ],
)
def test_values_are_shown_as_people_write_them(
    data: bytes, kind: ValueType | None, text: str
) -> None:
    assert format_value(data, kind) == text


def test_a_type_of_another_size_is_reported() -> None:
    check_size(b"\0\0", ValueType.U16)
    with pytest.raises(ArgumentError, match="the object has 2 bytes, i32 has 4"):
        check_size(b"\0\0", ValueType.I32)
