import os
from collections.abc import Iterator
from contextlib import suppress

import pytest

from humanoid_bringup.supervision.output import FULL, Output


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    for descriptor in (reader, writer):
        with suppress(OSError):  # the test has closed it
            os.close(descriptor)


def written(output: Output, reader: int) -> bytes:
    data = b""
    while output.pending:
        output.write_some()
        data += os.read(reader, 1 << 16)
    return data


def test_lines_carry_their_label_in_columns(pipe: tuple[int, int]) -> None:
    output = Output(pipe[1], "hc", ["control", "viewer"], colour=False)
    output.say("one\ntwo")
    output.add("control", b"hello")
    output.add("viewer", b"")
    expected = b"hc      | one\nhc      | two\ncontrol | hello\nviewer  | \n"
    assert written(output, pipe[0]) == expected


def test_labels_differ_in_colour_and_the_text_has_none(pipe: tuple[int, int]) -> None:
    output = Output(pipe[1], "hc", ["a", "b"], colour=True)
    for label in ("a", "b"):
        output.add(label, b"text")
    first, second = written(output, pipe[0]).splitlines()
    assert first == b"\x1b[0;36ma  |\x1b[0m text"
    assert second == b"\x1b[0;35mb  |\x1b[0m text"


def test_full_output_loses_no_line(pipe: tuple[int, int]) -> None:
    output = Output(pipe[1], "hc", ["a"], colour=False)
    lines = [b"%d" % i for i in range(100_000)]
    for line in lines:
        output.add("a", line)
    assert output.full
    assert written(output, pipe[0]) == b"".join(b"a  | " + line + b"\n" for line in lines)
    assert not output.full


def test_a_reader_that_has_gone_is_detected_and_no_data_accumulate(pipe: tuple[int, int]) -> None:
    output = Output(pipe[1], "hc", ["a"], colour=False)
    os.close(pipe[0])
    output.add("a", b"unheard")
    output.write_some()
    assert output.broken
    output.add("a", b"x" * FULL)
    assert not output.pending
