"""The meaning chosen for a number, and its explanation."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from humanoid_control_cli.app import app
from humanoid_control_cli.doctor.decode import decode, meaning
from humanoid_control_cli.doctor.number_kind import Kind
from humanoid_control_cli.sdo.values import Address, ArgumentError
from humanoid_devices_erob.protocol.cia_error_codes import CIA_ERRORS
from humanoid_devices_erob.reason_codes import AL_CODES


def titles(word: str, kind: Kind | None = None) -> list[str]:
    return [reading.title for reading in decode(word, kind)]


@pytest.mark.parametrize(
    ("word", "state"),
    [
        ("5687", "operation enabled"),
        ("0x1637", "operation enabled"),
        ("4616", "fault"),
        ("520", "fault"),
        ("592", "switch on disabled"),
        ("561", "ready to switch on"),
        ("563", "switched on"),
    ],
)
def test_a_statusword_of_a_drive_is_only_that(word: str, state: str) -> None:
    value = int(word, 0)
    assert titles(word) == [f"statusword {value} (0x{value:04X}): {state}"]


@pytest.mark.parametrize(
    ("word", "title"),
    [
        ("0xA000", "error code 0xA000 (40960): EtherCAT communication error"),
        ("40960", "error code 0xA000 (40960): EtherCAT communication error"),
        ("0x8500", "error code 0x8500 (34048): position error exceeds limit"),
        ("0x8400", "error code 0x8400 (33792): velocity error exceeds limit"),
        ("0x8130", "error code 0x8130 (33072): CAN heartbeat error"),
    ],
)
def test_an_error_code_of_the_documents_is_only_that_and_comes_with_advice(
    word: str, title: str
) -> None:
    (reading,) = decode(word, None)
    assert reading.title == title
    cause, fix = reading.details
    assert cause.startswith("cause: ")
    assert fix.startswith("do: ")


def test_a_fault_names_the_source_of_its_error_code() -> None:
    (reading,) = decode("4616", None)
    assert "0x603F" in str(reading)
    assert "hc clear-fault" in str(reading)


def test_an_entry_of_the_history_is_its_code_and_the_manufacturers_part() -> None:
    (reading,) = decode("0x0012A000", None)
    assert reading.title.startswith("error history entry with code 0xA000 ")
    assert reading.details[0] == "manufacturer's part: 0x0012"
    assert titles("0xA000", Kind.HISTORY)[0].startswith("error history entry with code 0xA000 ")
    assert "0x0012" in titles("0x00122310")[0]


def test_an_sdo_abort_code_is_distinguished_from_the_history() -> None:
    assert titles("0x06020000") == ["SDO abort code 0x06020000 (object does not exist)"]


@pytest.mark.parametrize(
    ("word", "readings"),
    [
        ("0", ["statusword", "error code"]),
        ("0x2310", ["error code", "statusword"]),
        ("0x7121", ["error code", "statusword"]),  # motor blocked, or ready to switch on
        ("0x8140", ["error code", "statusword"]),
        ("0x730F", ["error code", "statusword"]),
        ("0x0021", ["statusword", "AL status"]),
        ("0x05042310", ["SDO abort code", "error history entry"]),
        ("0x06040047", ["SDO abort code"]),
        ("0x06FF0001", ["SDO abort code"]),
    ],
)
def test_an_ambiguous_number_gets_every_reading(word: str, readings: list[str]) -> None:
    found = titles(word)
    assert len(found) == len(readings)
    assert all(title.startswith(start) for title, start in zip(found, readings, strict=True))


@pytest.mark.parametrize("code", CIA_ERRORS)
def test_every_code_of_cia_402_is_read_as_an_error(code: int) -> None:
    assert any(title.startswith(f"error code 0x{code:04X}") for title in titles(hex(code)))


@pytest.mark.parametrize("code", AL_CODES)
def test_the_advice_for_an_al_status_names_no_other_one_alone(code: int) -> None:
    (reading,) = decode(hex(code), Kind.AL)
    first = re.search(r"means: AL status (.*?):", str(reading).replace("\n", " "))
    assert first
    span = [int(word, 16) for word in re.findall("0x[0-9A-F]{4}", first[1])]
    assert code in range(min(span), max(span) + 1)


@pytest.mark.parametrize("code", ["0x0016", "0x0050", "0x0051"])
def test_an_al_status_of_a_damaged_eeprom_names_it(code: str) -> None:
    (reading,) = decode(code, Kind.AL)
    assert "EEPROM" in str(reading)


@pytest.mark.parametrize(("word", "code"), [("8500", "0x8500"), ("8130", "0x8130")])
def test_a_number_without_0x_is_also_read_as_hexadecimal(word: str, code: str) -> None:
    last = decode(word, None)[-1]
    assert last.title == f"Or {code} was meant:"
    assert f"error code {code} " in str(last)
    assert titles(word)[0].startswith(f"statusword {word} ")


def test_the_kind_can_be_given() -> None:
    assert titles("0x1208", Kind.ERROR)[0].startswith("error code 0x1208")
    assert titles("0xA000", Kind.STATUSWORD)[0].startswith("statusword 40960 ")


@pytest.mark.parametrize(
    ("word", "kind"),
    [("A000", None), ("-1", None), ("0x100000000", None), ("0x10000", Kind.STATUSWORD), ("", None)],
)
def test_a_text_that_is_no_such_number_is_refused(word: str, kind: Kind | None) -> None:
    with pytest.raises(ArgumentError, match=f"^'{word}' is no "):
        decode(word, kind)


@given(st.integers(0, 0xFFFFFFFF), st.sampled_from([None, *Kind]))
def test_every_number_has_an_interpretation(value: int, kind: Kind | None) -> None:
    if kind is not None:
        value &= kind.largest
    assert all(str(reading) for reading in decode(hex(value), kind))


@pytest.mark.parametrize(
    ("address", "data", "text"),
    [
        (Address(0x603F, 0), b"\x00\xa0", "EtherCAT communication error (`hc decode 0xA000`"),
        (Address(0x1003, 1), b"\x00\x85\x12\x00", "position error exceeds limit (`hc decode"),
        (Address(0x603F, 0), b"\0\0", "no error"),
        (Address(0x603F, 0), b"\x10\x23", "continuous overcurrent"),
        (Address(0x6041, 0), b"\x08\x12", "fault"),
    ],
)
def test_an_object_is_explained(address: Address, data: bytes, text: str) -> None:
    assert meaning(address, data).startswith(text)


@pytest.mark.parametrize("address", [Address(0x1003, 0), Address(0x2381, 1)])
def test_values_of_unlisted_objects_have_no_meaning(address: Address) -> None:
    assert not meaning(address, b"\x01\0\0\0")


def test_the_command_prints_every_reading() -> None:
    result = CliRunner().invoke(app, ["decode", "8500"])
    assert result.exit_code == 0
    assert result.output.splitlines()[0].startswith("statusword 8500 (0x2134): ")
    assert "Or 0x8500 was meant:\n  error code 0x8500 (34048): position error" in result.output
