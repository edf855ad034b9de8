"""The executed command as a function of time, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_joint_stream.command.executed_command import ExecutedCommand
from humanoid_joint_stream.facts import SECOND
from src.humanoid_joint_stream.test.joint_bench import COUNT, MS, PERIOD, Bench, update

Q, QD = 0.1, 1.0
START = 1000 * SECOND


def command(reference: int, extrapolation: int, end: int) -> ExecutedCommand:
    """Times in [ms] after the receipt."""
    rows = np.zeros((5, 1))
    rows[:2, 0] = Q, QD
    return ExecutedCommand(
        rows, START, START + end * MS, START + reference * MS, extrapolation * MS
    )


@pytest.mark.parametrize(
    ("reference", "extrapolation", "end", "expected"),
    [
        # Case 13: no reference_time: from the receipt on.
        (0, 200, 500, {0: Q, 100: Q + 0.1, 200: Q + 0.2, 499: Q + 0.2}),
        # Case 14: constant until the reference, then a ramp.
        (100, 100, 500, {0: Q, 100: Q, 150: Q + 0.05, 200: Q + 0.1, 400: Q + 0.1}),
        # Case 15: the end comes first.
        (0, 500, 100, {0: Q, 50: Q + 0.05, 100: Q + 0.1, 300: Q + 0.1}),
        # Case 16: a reference in the past: all of it at once, never backwards.
        (-1000, 100, 500, {0: Q + 0.1, 300: Q + 0.1}),
        # Case 17: no extrapolation.
        (0, 0, 500, {0: Q, 400: Q}),
        # A reference after the end: no extrapolation.
        (300, 100, 200, {0: Q, 200: Q, 400: Q}),
    ],
)
def test_position_over_time(
    reference: int, extrapolation: int, end: int, expected: dict[int, float]
) -> None:
    """Cases 13 to 17."""
    it = command(reference, extrapolation, end)
    found = {time: float(it.position(START + time * MS)[0]) for time in expected}
    assert found == pytest.approx(expected, abs=1e-9)


@given(
    reference=st.integers(-(10**4), 10**4),
    extrapolation=st.integers(0, 10**4),
    end=st.integers(1, 1000),
    times=st.lists(st.integers(0, 1000), min_size=2, max_size=8).map(sorted),
)
def test_the_position_is_the_law_and_never_goes_back(
    reference: int, extrapolation: int, end: int, times: list[int]
) -> None:
    """It is q + qd * clamp(t - ref, 0, min(duration, end - ref)), on any input."""
    it = command(reference, extrapolation, end)
    found = [float(it.position(START + time * MS)[0]) for time in times]
    ramp = max(0.0, min(extrapolation, end - reference) * 1e-3)
    law = [Q + QD * float(np.clip((time - reference) * 1e-3, 0.0, ramp)) for time in times]
    assert found == pytest.approx(law, abs=1e-9)
    assert found == sorted(found)


def test_the_velocity_damps_also_without_extrapolation() -> None:
    """Case 17 on the controller: q_des constant, the damping term uses qd_des."""
    bench = Bench().following()
    bench.send(update(bench.now, velocity=[1.0] * COUNT))
    for rows in bench.ticks(4 * PERIOD):
        assert rows[0].tolist() == [0.1] * COUNT
        assert rows[1].tolist() == [1.0] * COUNT


@pytest.mark.parametrize("reference", [None, 100])
def test_the_controller_executes_the_ramp_in_its_ticks(reference: int | None) -> None:
    """Cases 13 and 14 on the controller."""
    bench = Bench().following()
    start = bench.now
    given_reference = None if reference is None else start + reference * MS
    bench.send(
        update(
            start,
            velocity=[1.0] * COUNT,
            reference_time=given_reference,
            extrapolation_duration=200 * MS,
            end_time=start + 500 * MS,
        )
    )
    found = [rows[0, 0] for rows in bench.ticks(450 * MS)]
    times = np.arange(1, len(found) + 1) * PERIOD * 1e-9
    law = 0.1 + np.clip(times - (reference or 0) * 1e-3, 0.0, 0.2)
    assert found == pytest.approx(law.tolist(), abs=1e-9)
