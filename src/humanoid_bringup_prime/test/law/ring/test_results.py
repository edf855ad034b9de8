"""An EtherCAT ring meets the control loop's checks of a component's results."""

from __future__ import annotations

from typing import Any

import pytest

DRIVES = 2


@pytest.mark.parametrize("ticks", [0, 5])
def test_every_result_of_a_ring_meets_its_contract(
    rig: Any, check_results: Any, ticks: int
) -> None:
    rig.tick(ticks)
    check_results(rig.system, DRIVES, rig.period)
