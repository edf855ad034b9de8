"""Encoder counts and radians."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.units import Encoder

ENCODERS = [Encoder(2**16), Encoder(2**19)]
IDS = ["16 bit", "19 bit"]


@pytest.mark.parametrize("encoder", ENCODERS, ids=IDS)
def test_a_revolution_is_two_pi(encoder: Encoder) -> None:
    assert encoder.to_radians(encoder.counts_per_revolution) == pytest.approx(2 * math.pi)
    assert encoder.to_counts(math.pi) == pytest.approx(encoder.counts_per_revolution / 2)
    assert encoder.to_radians(0) == 0.0


def test_counts_per_radian_of_common_encoders() -> None:
    assert ENCODERS[0].counts_per_radian == pytest.approx(10430.378350470453)
    assert ENCODERS[1].counts_per_radian == pytest.approx(83443.02680376363)


@pytest.mark.parametrize("encoder", ENCODERS, ids=IDS)
@given(counts=st.integers(-(2**31), 2**31 - 1))
def test_counts_survive_the_way_there_and_back(encoder: Encoder, counts: int) -> None:
    assert round(encoder.to_counts(encoder.to_radians(counts))) == counts


@pytest.mark.parametrize("encoder", ENCODERS, ids=IDS)
def test_arrays_are_converted_element_by_element(encoder: Encoder) -> None:
    counts = np.array([0.0, 1.0, -3.0]) * encoder.counts_per_revolution
    assert encoder.to_radians(counts) == pytest.approx(np.array([0.0, 1.0, -3.0]) * 2 * math.pi)


def test_counts_are_not_rounded() -> None:
    assert ENCODERS[0].to_counts(1.0) == pytest.approx(10430.378350470453)


@pytest.mark.parametrize("counts", [0, -65536])
def test_an_encoder_counts_something(counts: int) -> None:
    with pytest.raises(ConfigError, match=f"counts_per_revolution is {counts}"):
        Encoder(counts)
