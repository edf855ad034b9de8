"""Resolutions of encoders."""

import pytest

from humanoid_control_common.robot.units import Encoder


@pytest.mark.parametrize(("bits", "expected"), [(16, 10430.378350470453), (19, 83443.02680376363)])
def test_counts_per_radian_of_common_encoders(bits: int, expected: float) -> None:
    assert Encoder(2**bits).counts_per_radian == pytest.approx(expected)
