"""`hc sdo` with a process that serves batches as the control process does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from src.humanoid_control_cli.test.conftest import Starter

FAKE = Path(__file__).with_name("fake_ring.py")
TIMEOUT = "30"  # [s]; a dead-man's switch


@pytest.fixture(scope="module")
def ring(start_once: Starter) -> Starter:
    fake = start_once(sys.executable, str(FAKE))
    fake.wait_for("serving")
    return start_once


@pytest.fixture
def ask(
    ring: Starter, hc_here: Callable[..., tuple[int, list[str]]]
) -> Callable[..., tuple[int, list[str]]]:
    """Runs `hc sdo` beside the ring."""

    def run(*arguments: str) -> tuple[int, list[str]]:
        return hc_here("sdo", *arguments, "--timeout", TIMEOUT, **ring.environment)

    return run


def test_a_program_reads_an_object(ring) -> None:
    run = ring.hc_anew("sdo", "read", "0-1", "0x1008", "--timeout", TIMEOUT)
    assert run.finish() == 0, run.text
    assert run.lines == [f"slave {i} 0x1008:00 = 'eRob 70'" for i in (0, 1)]


def test_an_object_is_read_and_explained(ask) -> None:
    start = "slave 0 0x603F:00 = 40960 (0xA000): EtherCAT communication error (`hc decode 0xA000`"
    code, (line,) = ask("read", "0", "0x603F")
    assert code == 0
    assert line.startswith(start)
    assert ask("read", "0", "24639") == (0, [line])


def test_several_slaves_are_read_at_once(ask) -> None:
    expected = [f"slave {i} 0x1008:00 = 'eRob 70'" for i in (0, 1)]
    assert ask("read", "0-1", "0x1008") == (0, expected)


def test_hc_sdo_prints_the_written_value_and_the_read_value(ask) -> None:
    assert ask("write", "0", "0x2381:1", "-19") == (
        0,
        ["slave 0 0x2381:01 = -19 (0xFFFFFFED)"],
    )
    assert ask("read", "1", "0x2381:1") == (0, ["slave 1 0x2381:01 = 56 (0x00000038)"])


def test_the_size_of_an_unknown_object_is_read_from_the_drive(ask) -> None:
    assert ask("write", "1", "0x3000", "0x102") == (0, ["slave 1 0x3000:00 = 258 (0x0102)"])
    code, (line,) = ask("write", "1", "0x3000", "70000")
    assert code == 1
    assert line.startswith("hc: value is 70000, expected 0 to 65535 for u16")


def test_a_given_type_wins(ask) -> None:
    assert ask("read", "1", "0x2381:1", "--type", "u32")[0] == 0
    expected = "hc: the object has 4 bytes, i16 has 2"
    assert ask("read", "1", "0x2381:1", "--type", "i16") == (1, [expected])


def test_every_sdo_failure_is_reported_with_its_slave(ask) -> None:
    code, lines = ask("write", "0,2-5", "0x2381:1", "56")
    assert code == 1
    for part in (
        "slave 0 0x2381:01 = 56 (0x00000038)",
        "hc: slave 2 0x2381:01 was refused: slave 2 is in SAFEOP",
        "hc: slave 3 0x2381:01 was aborted by the drive: 0x06090030 (value out of range)",
        "hc: slave 4 0x2381:01 got no answer from the drive",
        "hc: slave 5 0x2381:01 was written, but reads back as another value",
    ):
        assert any(line.startswith(part) for line in lines), lines


def test_an_object_that_the_drive_lacks_is_reported(ask) -> None:
    expected = "slave 0 0x4000:00 was aborted by the drive: 0x06020000 (object does not exist)"
    assert ask("read", "0", "0x4000") == (1, [f"hc: {expected}"])
    code, (line,) = ask("write", "0", "0x4000", "1")
    assert code == 1
    assert "read for its type" in line
    assert "give the --type" in line


def test_a_robot_without_a_ring_is_distinguished_from_no_robot(start, hc_here) -> None:
    fake = start(sys.executable, str(FAKE), "without_ring")
    fake.wait_for("serving")
    words = ("sdo", "read", "0", "0x603F", "--timeout", "3")
    code, (line,) = hc_here(*words, **start.environment)
    assert code == 1
    assert line.startswith("hc: a control process is running (DAMPING), but /erob/read_sdo_batch")
    assert "hc up real" in line


@pytest.mark.parametrize("words", [("x", "0x603F"), ("0", "603F"), ("0", "0x603F:999")])
def test_an_argument_that_is_no_number_is_refused_without_a_robot(
    hc_here, words: tuple[str, str]
) -> None:
    code, (line,) = hc_here("sdo", "read", *words)
    assert code == 1
    assert "expected a number from 0 to " in line


def test_more_positions_than_a_request_has_room_for_are_refused(hc_here) -> None:
    code, (line,) = hc_here("sdo", "read", "0-256", "0x603F")
    assert code == 1
    assert line == "hc: '0-256' has 257 ring positions, expected 256 at most"
