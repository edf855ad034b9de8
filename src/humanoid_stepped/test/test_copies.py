"""Functions on a copy of a process."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import pytest

from humanoid_stepped.copies import CopyError, LastingCopy, in_copy


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


def test_a_lasting_copy_does_what_is_asked_of_it_and_keeps_its_own_state() -> None:
    known = [1]

    def serve(asked: Iterator[int], connection: Connection[Any, Any]) -> None:
        for word in asked:
            known.append(word)
            connection.send(known)

    copy = LastingCopy(serve)
    try:
        for word in (2, 3):
            copy.connection.send(word)
        assert [copy.connection.recv() for _ in range(2)] == [[1, 2], [1, 2, 3]]
    finally:
        copy.end()
    assert known == [1]


def test_a_lasting_copy_ends_with_the_process_that_was_copied() -> None:
    """Another copy still has the other end of the connection."""
    reader, writer = os.pipe()

    def parent() -> None:
        LastingCopy(lambda asked, _connection: deque(asked, 0).clear())
        os._exit(0)

    with pytest.raises(CopyError):
        in_copy(parent)
    os.close(writer)
    assert os.read(reader, 1) == b""  # end of file: no process has the other end any more
    os.close(reader)
