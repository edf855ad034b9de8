from hypothesis import given
from hypothesis import strategies as st

from humanoid_bringup.supervision.processes import LineCutter

CHUNKS = st.lists(st.text("ab\n", max_size=5).map(str.encode), max_size=20)


@given(CHUNKS)
def test_lines_do_not_depend_on_how_the_stream_was_cut(chunks: list[bytes]) -> None:
    cutter = LineCutter()
    lines = [line for chunk in chunks for line in cutter.feed(chunk)] + cutter.finish()
    *expected, rest = b"".join(chunks).split(b"\n")
    assert lines == expected + ([rest] if rest else [])


def test_a_line_without_end_is_handed_on_in_pieces() -> None:
    cutter = LineCutter(longest=4)
    assert cutter.feed(b"abcdefghij") == [b"abcd", b"efgh"]
    assert cutter.finish() == [b"ij"]


def test_a_stream_that_ends_with_a_newline_has_no_further_line() -> None:
    cutter = LineCutter()
    assert cutter.feed(b"a\n") == [b"a"]
    assert cutter.finish() == []
