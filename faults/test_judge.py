"""The judge is strict about what it must be strict about, and about nothing else."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from faults.judge import Limits, Window, judge, stiff
from humanoid_twin.physics.recorder import Recording

NAMES = ("shoulder", "wrist")
LIMITS = Limits({"shoulder": 4.0, "wrist": 3.0}, {"shoulder": 30.0, "wrist": 9.0})
FAULT, END = 0.5, 1.0  # [s]


@pytest.fixture
def calm() -> Recording:
    """A second in which two joints hang stiffly for 0.6 s, and limp from then on."""
    time = np.arange(1, 1001) / 1000
    zeros = np.zeros((1000, 2))
    stiffness = np.where(time[:, None] <= 0.6, 20.0, np.zeros((1, 2)))
    return Recording(NAMES, time, zeros, zeros.copy(), zeros.copy(), stiffness, zeros.copy())


def test_the_time_to_softness_is_that_of_the_last_stiff_joint(calm: Recording) -> None:
    calm.stiffness[600:700, 1] = 5.0
    verdict = judge(calm, LIMITS, Window(fault=FAULT, end=END))
    assert verdict.softened == pytest.approx(0.201, abs=0.002)
    assert verdict.violations == ()


def test_a_joint_that_is_stiff_at_the_end_was_never_softened_and_is_named(calm: Recording) -> None:
    calm.stiffness[990:, 1] = 5.0
    window = Window(fault=FAULT, end=END)
    assert judge(calm, LIMITS, window).softened is None
    assert stiff(calm, window) == ["wrist"]
    spared = replace(window, spared=("wrist",))
    assert judge(calm, LIMITS, spared).softened == pytest.approx(0.1, abs=0.002)


def test_a_target_that_follows_is_soft_only_where_that_counts(calm: Recording) -> None:
    calm.stiffness[:] = 20.0
    calm.pull[:700, 0] = 3.0
    assert judge(calm, LIMITS, Window(fault=FAULT, end=END)).softened is None
    follows = Window(fault=FAULT, end=END, follows=True)
    assert judge(calm, LIMITS, follows).softened == pytest.approx(0.2, abs=0.002)


def test_what_happens_after_the_end_is_nobodys_business(calm: Recording) -> None:
    calm.velocity[950:, 0] = 100.0
    assert judge(calm, LIMITS, Window(fault=FAULT, end=0.9)).violations == ()
    assert "shoulder: speed 25.00" in judge(
        calm, LIMITS, Window(fault=FAULT, end=END)
    ).violations[0]  # fmt: skip


def test_effort_that_drives_a_joint_is_limited_and_effort_that_brakes_is_reported(
    calm: Recording,
) -> None:
    window = Window(fault=FAULT, end=END)
    calm.velocity[:, 1] = 1.0
    calm.torque[700, 1] = -18.0
    verdict = judge(calm, LIMITS, window)
    assert (verdict.effort, verdict.braking) == (0.0, 2.0)
    assert verdict.violations == ()
    calm.torque[700, 1] = 18.0
    assert judge(calm, LIMITS, window).violations == ("wrist: effort 2.00 of its limit",)


def test_a_joint_that_leaves_its_course_has_jumped_unless_it_is_slowed_down(
    calm: Recording,
) -> None:
    window = Window(fault=FAULT, end=END)
    calm.position[:, 0] = calm.time * 1.0
    calm.velocity[:, 0] = 1.0
    assert judge(calm, LIMITS, window).jump == pytest.approx(0.0, abs=1e-9)
    calm.position[700:, 0] += 0.05
    assert judge(calm, LIMITS, window).violations == ("shoulder: jumped by 0.050 rad",)
    calm.velocity[700:, 0] = 0.5
    assert judge(calm, LIMITS, window).violations == ()
