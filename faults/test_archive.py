"""Which fault is found in which file, when several wait."""

from __future__ import annotations

from pathlib import Path

import pytest

from faults import archive
from faults.flights import Flight
from faults.kept import Expected

FIRST, SECOND = 1000.0, 2000.0  # [s]


def flight_of(fault: float) -> Flight:
    return Flight(fault - 10.0, fault + 2.0, ("a fall",), ((fault, "fall: wrist hot"),), ())


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
            kept.claim(Expected(at, at + 1.0, "wrist", killed=False)) for at in (FIRST, SECOND)
        ]
    assert [claim.wrong for claim in claims] == [[], []]
    assert all(claim.found for claim in claims)
