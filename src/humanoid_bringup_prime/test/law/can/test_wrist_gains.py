"""The effect of the divisors of the Sito gains, measured at a wrist."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

# Divisors, and the documented stiffness and damping of the wrists as a share of the commanded.
CALIBRATIONS = {
    "first calibration": ({"stiffness_divisor": "500", "damping_divisor": "0.5"}, 1.38, 2.25),
    "measured, given": ({"stiffness_divisor": "688.58", "damping_divisor": "1.125"}, 1.0, 1.0),
    "measured, known": ({}, 1.0, 1.0),
}


@pytest.mark.parametrize("calibration", CALIBRATIONS)
def test_wrist_has_the_stiffness_and_damping_of_its_divisors(
    make_rig: Any, measurement: Any, nominal_row: Any, wrist_table: Any, calibration: str
) -> None:
    divisors, stiffness, damping = CALIBRATIONS[calibration]
    with make_rig("sito", "TA40-50", **divisors) as rig:
        rig.command(nominal_row(20.0, 2.0))
        held, deflected = measurement.held(rig.joints), measurement.deflected(rig.joints, 2.0)
        rig.command(nominal_row(0.0, 2.0))
        drifting = measurement.drifting(rig.joints, 1.0)
    for way, found, asked, expected in (
        ("kp, held offset", held.stiffness, 20.0, stiffness),
        ("kp, deflection", deflected.stiffness, 20.0, stiffness),
        ("kd, held speed", held.damping, 2.0, damping),
        ("kd, decay", deflected.damping, 2.0, damping),
        ("kd, steady speed", drifting, 2.0, damping),
    ):
        wrist_table.add(calibration, way, expected, *(found / asked).tolist())
        np.testing.assert_allclose(found / asked, expected, rtol=0.01)
