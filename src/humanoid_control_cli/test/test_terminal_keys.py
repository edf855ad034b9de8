"""Keys of a terminal, one by one."""

from __future__ import annotations

import os
import pty
import termios
from collections.abc import Iterator

import pytest

from humanoid_control_cli.terminal_keys import Keys, TerminalClosedError, split_keys


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """The other end of a terminal that is the standard input."""
    master, slave = pty.openpty()
    with os.fdopen(slave) as stdin, os.fdopen(master, "wb", buffering=0) as other_end:
        monkeypatch.setattr("sys.stdin", stdin)
        yield other_end.fileno()


def pressed(keys: Keys, until: str) -> list[str]:
    """Return the keys up to `until`, which was pressed."""
    found: list[str] = []
    while until not in found:
        found += keys.pressed()
    return found


def test_the_control_keys_but_ctrl_c_are_keys_like_any_other(terminal: int) -> None:
    """A suspended calibration leaves a joint limp; one whose output is held takes no key."""
    with Keys() as keys:
        os.write(terminal, b"\x1a\x1c\x13q")
        assert pressed(keys, "q") == ["\x1a", "\x1c", "\x13", "q"]


def test_a_key_in_another_encoding_is_a_key_and_others_follow_it(terminal: int) -> None:
    with Keys() as keys:
        os.write(terminal, b"\xe9")
        assert pressed(keys, "\ufffd") == ["\ufffd"]
        os.write(terminal, b"q")
        assert pressed(keys, "q") == ["q"]


def test_the_terminal_is_as_before_afterwards(terminal: int) -> None:
    before = termios.tcgetattr(terminal)
    with Keys():
        assert termios.tcgetattr(terminal) != before
    assert termios.tcgetattr(terminal) == before


def test_a_closed_terminal_is_an_error_and_leaving_it_is_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    master, slave = pty.openpty()
    with os.fdopen(slave) as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        with pytest.raises(TerminalClosedError, match="the terminal is closed"), Keys() as keys:
            os.close(master)
            pressed(keys, "q")


def test_keys_are_distinguished() -> None:
    assert split_keys("n\x1b[Aq\x1bOBw") == ["n", "up", "q", "down", "w"]
    assert split_keys("") == []


def test_the_sequence_of_a_key_is_one_key_whatever_its_characters() -> None:
    f9, keypad_7, ctrl_up = "\x1b[20~", "\x1bOw", "\x1b[1;5A"
    assert split_keys(f"{f9}n{keypad_7}{ctrl_up}\x1b") == [f9, "n", keypad_7, ctrl_up, "\x1b"]
