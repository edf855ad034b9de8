"""The stepped robot finds every former defect again when its mend is reverted."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from fault_campaign.robot import MAIN, Sabotage
from fault_campaign.stepped.defects_found import FOUND, Found
from fault_campaign.stepped.prepared import Copies
from fault_campaign.stepped.reverted_mends import REVERTED_MENDS
from fault_campaign.stepped.robot import SimulatedRobot

from humanoid_bringup.robot_package import DEFAULT
from humanoid_stepped.copies import in_copy

PAGE = Path(__file__).parents[3] / "docs" / "fault_campaign_reference.md"
MOST = 40  # trials
TIMEOUT = 300  # [s] of processor time for a bring-up and MOST trials


def trials_until_found(folder: Path, found: Found) -> int:
    """Return the number of trials until the defect is found; MOST + 1 if none finds it.

    A change of the stack changes the trial of a seed, so the next seeds are tried, too.
    """
    kind = found.fault
    trials = [(kind, found.seed + number) for number in range(MOST)]
    make = partial(SimulatedRobot, folder, Sabotage(MAIN, found.mend), kind.robot)
    with Copies(make, trials) as copies:
        for number in range(MOST):
            if found.type in {it.type for it in copies.run(number).news}:
                return number + 1
    return MOST + 1


@pytest.mark.parametrize("found", FOUND, ids=[f"{it.robot} {it.mend} {it.seed}" for it in FOUND])
def test_without_its_mend_a_defect_is_found(tmp_path: Path, found: Found) -> None:
    # The trial runs in a copy of this process, so the defect stays there.
    assert in_copy(partial(trials_until_found, tmp_path, found), TIMEOUT) <= MOST


def test_the_page_names_the_seed_of_every_defect() -> None:
    part = PAGE.read_text(encoding="utf-8").partition("## Defects found again")[2]
    rows = []
    for row in part.partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in row.split("|")[1:-1]]
        mend, _, robot = cells[0].partition(",") if cells else ("", "", "")
        if mend.strip("`") in REVERTED_MENDS:
            rows.append((mend.strip("`"), robot.strip().lower() or DEFAULT, *cells[2:4]))
    assert rows == [(it.mend, it.robot, it.kind, str(it.seed)) for it in FOUND]
    assert list(dict.fromkeys(row[0] for row in rows)) == list(REVERTED_MENDS)
