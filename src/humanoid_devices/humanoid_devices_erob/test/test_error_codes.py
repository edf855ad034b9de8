"""The explanations of the drives' numbers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_devices_erob.drive.error_codes import (
    ERROR_CODES,
    describe_error,
    describe_history,
    describe_statusword,
)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (0xA000, "EtherCAT communication error"),
        (0x8500, "position error exceeds limit"),
        (0x8400, "velocity error exceeds limit"),
        (0x8130, "CAN heartbeat error"),
    ],
)
def test_every_code_of_the_documents_has_its_meaning_cause_and_fix(code: int, text: str) -> None:
    assert ERROR_CODES[code].text == text
    described = describe_error(code)
    assert described.startswith(f"0x{code:04X}: {text}. Cause: ")
    assert ". Fix: " in described


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (0x0000, "no error"),
        (0x8140, "bus-off"),
        (0x8611, "following error"),
        (0x7113, "brake chopper protective circuit"),
        (0x2315, "continuous overcurrent"),  # by its class
        (0x23F1, "output current"),
        (0x2FFF, "current"),
        (0xA001, "specific to the manufacturer"),
    ],
)
def test_unlisted_error_codes_are_explained_as_far_as_known(code: int, text: str) -> None:
    assert text in describe_error(code)


def test_an_entry_of_the_history_carries_the_manufacturers_half() -> None:
    assert describe_history(0x0000_8130) == describe_error(0x8130)
    assert describe_history(0x0012_8130) == (
        describe_error(0x8130) + " (manufacturer's part 0x0012)"
    )


@pytest.mark.parametrize(
    ("word", "text"),
    [
        (5687, "statusword 5687 (0x1637): operation enabled"),
        (4616, "statusword 4616 (0x1208): fault"),
        (592, "statusword 592 (0x0250): switch on disabled"),
        (0x0637, "statusword 1591 (0x0637): operation enabled; the target position is ignored"),
        (0x1637 | 0x0880, "statusword 7863 (0x1EB7): operation enabled; the drive warns; "
         "an internal limit is active"),
        (0x0050, "statusword 80 (0x0050): switch on disabled; the drive doesn't accept the "
         "controlword"),
    ],
)  # fmt: skip
def test_a_statusword_is_reported_with_what_is_not_well(word: int, text: str) -> None:
    assert describe_statusword(word) == text


@given(st.integers(0, 0xFFFF))
def test_every_number_is_described_in_one_line(number: int) -> None:
    for text in (describe_error(number), describe_statusword(number), describe_history(number)):
        assert f"{number:04X}" in text
        assert "\n" not in text
