"""Each waiting fault is found in its file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from fault_campaign.judging import archive
from fault_campaign.judging.black_box_check import Expected
from fault_campaign.judging.cause import Cause
from fault_campaign.judging.fault_files import Flight

FIRST, SECOND = 1000.0, 2000.0  # [s]


CODES = ("TEMPERATURE_LIMIT",)
CAUSES = (Cause(codes=CODES, named=("wrist",)),)


def flight_of(fault: float) -> Flight:
    alarm = (fault, "fall: wrist hot", CODES)
    return Flight(fault - 10.0, fault + 2.0, ("FELL_TO_SAFETY",), (alarm,), ())


def wrong_with(
    flight: Flight, folder: Path, monkeypatch: pytest.MonkeyPatch, fault: float = FIRST
) -> list[str]:
    """Return the errors of a claim after the archive has read this file alone."""
    monkeypatch.setattr(archive, "_read", lambda _path: flight)
    (folder / "black_box_1").mkdir()
    (folder / "black_box_1" / "metadata.yaml").touch()
    with archive.Archive(folder) as kept:
        claim = kept.claim(Expected(fault, fault + 1.0, CAUSES, killed=False))
    return claim.wrong


def test_a_fault_without_a_file_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = wrong_with(flight_of(FIRST), tmp_path, monkeypatch, SECOND)
    assert wrong == ["no file of the black box tells of it, of 1 so far"]


def test_fault_file_is_lost_after_its_latest_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "LATEST", -1.0)
    with archive.Archive(tmp_path) as kept:
        claim = kept.claim(Expected(FIRST, FIRST + 1.0, CAUSES, killed=False))
        kept.look()
        assert claim.settled
        assert claim.found is None


def test_a_fault_is_looked_for_until_its_time_is_over(tmp_path: Path) -> None:
    with archive.Archive(tmp_path) as kept:
        claim = kept.claim(Expected(FIRST, FIRST + 1.0, CAUSES, killed=False))
        kept.look()
        assert not claim.settled


@pytest.mark.parametrize("fault", [FIRST, SECOND])
def test_a_file_that_can_not_be_read_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: float
) -> None:
    damaged = replace(flight_of(FIRST), problem="torn")
    wrong = wrong_with(damaged, tmp_path, monkeypatch, fault)
    assert "black_box_1 can't be read: torn" in wrong


def test_ticks_that_are_missing_are_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gap = replace(flight_of(FIRST), gaps=((FIRST, 0.04),))
    assert wrong_with(gap, tmp_path, monkeypatch) == [
        "ticks are missing in the file: 0.040 s, +0.000 s"
    ]


def test_each_fault_is_found_though_several_files_were_read_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flights = {"black_box_1": flight_of(FIRST), "black_box_2": flight_of(SECOND)}
    monkeypatch.setattr(archive, "_read", lambda path: flights[path.name])
    for name in flights:
        (tmp_path / name).mkdir()
        (tmp_path / name / "metadata.yaml").touch()
    with archive.Archive(tmp_path) as kept:
        claims = [
            kept.claim(Expected(at, at + 1.0, CAUSES, killed=False)) for at in (FIRST, SECOND)
        ]
    assert [claim.wrong for claim in claims] == [[], []]
    assert all(claim.found for claim in claims)
