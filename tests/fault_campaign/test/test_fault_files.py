"""Missing ticks in a file of the black box are found and distinguished from a late loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from fault_campaign.judging.fault_files import examine, from_json, main
from test_support.record_facts import record_facts

from humanoid_control_common.tick_records.record_file import RecordFile, RecordStore, create
from humanoid_control_common.tick_records.record_layout import EventKind, Word
from humanoid_control_common.tick_records.record_ring import EventWriter
from humanoid_control_common.tick_records.record_types import Records
from humanoid_recording.black_box.black_box import BlackBox
from humanoid_recording.black_box.store import Store

FACTS = record_facts(joints=("elbow",), sources=(), counters=(), limited=())
PERIOD = 20_000_000  # [ns]
Spoil = Callable[[Records], None]


def written(folder: Path, spoil: Spoil | None = None) -> Path:
    """Write a file of the black box: 4 s of ticks up to now, with a fall; `spoil` changes them."""
    (folder / "memory").mkdir()
    file = create(FACTS, folder / "memory")
    _fill(file)
    EventWriter(file, Word.LOOP_EVENTS).add(
        EventKind.FALL, "wrist hot", codes=("TEMPERATURE_LIMIT",)
    )
    if spoil is not None:
        spoil(file.ticks)
    return BlackBox(Store(folder / "files"), RecordStore(folder / "memory"), time.monotonic).save()


def _fill(file: RecordFile) -> None:
    count = len(file.ticks)
    file.ticks["begin"] = file.ticks["end"] = np.arange(1, count + 1)
    file.ticks["tick"] = np.arange(1000, 1000 + count)
    file.ticks["monotonic"] = time.monotonic_ns() + PERIOD * np.arange(1 - count, 1)
    file.ticks["wall"] = time.time_ns() + PERIOD * np.arange(1 - count, 1)
    file.words[Word.TICKS] = count


def lose_one(ticks: Records) -> None:
    """Remove ticks, as an incomplete record does."""
    ticks["end"][50] = 0


def be_late(ticks: Records) -> None:
    """Delay the ticks, as a hold-up of the loop does."""
    ticks["monotonic"][:50] -= 3 * PERIOD


def be_a_little_late(ticks: Records) -> None:
    """Delay one tick by nearly a period."""
    ticks["monotonic"][50] += round(0.99 * PERIOD)


def test_a_whole_file_has_its_alarm_and_no_gap(tmp_path: Path) -> None:
    before = time.time()
    flight = examine(written(tmp_path))
    assert flight.end - flight.begin == pytest.approx(3.98)
    assert [it[1:] for it in flight.alarms] == [("fall: wrist hot", ("TEMPERATURE_LIMIT",))]
    assert before - 1.0 < flight.alarms[0][0] < time.time() + 1.0
    assert (flight.gaps, flight.problem) == ((), "")


def test_a_tick_that_is_missing_is_a_gap(tmp_path: Path) -> None:
    gaps = examine(written(tmp_path, lose_one)).gaps
    assert [length for _, length in gaps] == pytest.approx([0.04])


@pytest.mark.parametrize("spoil", [be_late, be_a_little_late])
def test_a_tick_that_is_late_is_none(tmp_path: Path, spoil: Spoil) -> None:
    assert examine(written(tmp_path, spoil)).gaps == ()


def test_the_output_of_the_reader_is_parsed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = written(tmp_path, lose_one)
    main(folder)
    assert from_json(capsys.readouterr().out) == examine(folder)
    main(tmp_path / "nothing")
    assert "no bag there" in from_json(capsys.readouterr().out).problem
