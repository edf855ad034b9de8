"""The short form: the quick kinds on one robot, and the long one."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from faults.campaign import Campaign, drawn
from faults.kind import Kind
from faults.kinds.catalogue import KINDS
from faults.report import line
from humanoid_twin.ethercat.errors import VethError

SEED = 6  # of the short form: the same in every run
QUICK = [kind for kind in KINDS.values() if kind.quick]


def violations(kinds: Sequence[Kind], count: int, seed: int) -> list[str]:
    """Of a campaign; every trial is told of."""
    found = []
    try:
        for entry in Campaign(lambda text: sys.stdout.write(f"{text}\n")).run(
            drawn(kinds, count, seed)
        ):
            sys.stdout.write(f"{line(entry)}\n")
            found += [f"{entry.result.kind}, seed {entry.result.seed}: {it}"
                      for it in entry.news]  # fmt: skip
    except VethError as error:
        pytest.skip(f"no pair of virtual network interfaces can be made: {error}")
    return found


def test_whatever_breaks_the_robot_ends_soft_and_says_why() -> None:
    assert violations(QUICK, len(QUICK), SEED) == []


@pytest.mark.soak
def test_a_thousand_random_faults_violate_nothing() -> None:
    assert violations(list(KINDS.values()), 1000, SEED) == []
