"""What runs on a copy of a process."""

from __future__ import annotations

import os

import pytest

from humanoid_stepped.copies import CopyError, in_copy


def test_a_copy_returns_its_result_and_changes_nothing_here() -> None:
    found: list[int] = []

    def change() -> list[int]:
        found.append(1)
        return found

    assert in_copy(change) == [1]
    assert found == []


def test_a_copy_that_raises_or_is_killed_gives_no_result() -> None:
    def fail() -> None:
        raise KeyError("q")

    for function in (fail, lambda: os._exit(3)):
        with pytest.raises(CopyError, match="ended without a result"):
            in_copy(function)


def test_a_copy_that_takes_too_much_processor_time_is_ended() -> None:
    def spin() -> None:
        while True:
            pass

    with pytest.raises(CopyError, match="takes more than 1 s of processor time"):
        in_copy(spin, 1)
