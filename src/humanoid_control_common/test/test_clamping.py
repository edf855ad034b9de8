"""Limits of arrays."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from humanoid_control_common.clamping import clamp

NUMBERS = arrays.arrays(np.float64, (3, 4), elements=st.floats(allow_nan=True))


@given(values=NUMBERS, low=NUMBERS, high=NUMBERS)
def test_values_are_limited_like_by_numpy(values, low, high) -> None:
    expected = np.clip(values, low, high)
    np.testing.assert_array_equal(clamp(values, low, high), expected)
    out = np.empty_like(values)
    before = values.copy()
    assert clamp(values, low, high, out) is out
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(values, before)
