"""Every defect that was mended is found again by the stepped robot when its mend is taken out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from fault_campaign.campaign import Entry
from fault_campaign.judging.violation import Breach
from fault_campaign.kinds.catalogue import STEPPED
from fault_campaign.robot import MAIN, Sabotage
from fault_campaign.stepped.robot import SimulatedRobot
from fault_campaign.stepped.taken_out import TAKEN_OUT
from fault_campaign.stepped.trial import run

from humanoid_stepped.copies import in_copy

PAGE = Path(__file__).parents[3] / "docs" / "fault_campaign.md"
PATIENCE = 300.0  # [s] of wall time for a bring-up and a trial


class Found(NamedTuple):
    """The trial that found a defect."""

    mend: str
    kind: str
    seed: int
    breach: Breach


FOUND = ()


def tried(folder: Path, found: Found, sabotage: Sabotage | None) -> Entry:
    return run(SimulatedRobot(folder, sabotage), STEPPED[found.kind], found.seed)


def breaches(folder: Path, found: Found, sabotage: Sabotage | None) -> set[Breach]:
    """Run the trial in a copy of this process: the defect stays there."""
    entry = in_copy(partial(tried, folder, found, sabotage), PATIENCE)
    return {it.breach for it in entry.news}


@pytest.mark.parametrize("found", FOUND, ids=lambda found: found.mend)
def test_without_its_mend_a_defect_is_found_by_its_seed(tmp_path: Path, found: Found) -> None:
    assert found.breach in breaches(tmp_path, found, Sabotage(MAIN, found.mend))


@pytest.mark.parametrize("found", FOUND, ids=lambda found: found.mend)
def test_with_its_mend_the_same_seed_finds_nothing(tmp_path: Path, found: Found) -> None:
    assert breaches(tmp_path, found, None) == set()


def test_the_page_names_the_seed_of_every_defect() -> None:
    part = PAGE.read_text(encoding="utf-8").partition("## Defects found again")[2]
    rows = {}
    for row in part.partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in row.split("|")[1:-1]]
        if len(cells) == 5 and cells[0].strip("`") in TAKEN_OUT:
            rows[cells[0].strip("`")] = cells[2], cells[3]
    assert rows == {it.mend: (it.kind, str(it.seed)) for it in FOUND}
    assert list(rows) == list(TAKEN_OUT)
