"""Motors on a CAN bus meet the control loop's checks of a component's results."""

from __future__ import annotations

from typing import Any

import pytest

MOTORS = 2


@pytest.mark.parametrize(("family", "model"), [("sito", "TA40-50"), ("robstride", "rs-03")])
def test_every_result_of_a_can_bus_meets_its_contract(
    make_rig: Any, check_results: Any, family: str, model: str
) -> None:
    with make_rig(family, model) as rig:
        check_results(rig.system, MOTORS, 0.02)
        rig._tick()
        check_results(rig.system, MOTORS, 0.02)
