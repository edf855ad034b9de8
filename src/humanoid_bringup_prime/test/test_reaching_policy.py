"""The policy of Prime on the virtual robot: both arms follow their motion, and rest at its end."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_support.reaching import begin_motion, shipped_motion
from test_support.stepped.stack import Stack

from humanoid_control_common.rules.modes import Mode

END = 9.0  # [s] of the motion
SETTLED = 1.0  # [s] after its begin: before, the arms hang below their targets
# [rad], of all joints; the same gains without a policy: 0.17 and 0.25
# (benchmarks/motion/reaching.py)
WITHOUT_PAYLOAD, WITH_PAYLOAD = 0.07, 0.13
STILL = 0.05  # [rad/s]: arms that swing had 2 rad/s


@pytest.mark.parametrize(("mass", "allowed"), [(0.0, WITHOUT_PAYLOAD), (1.0, WITH_PAYLOAD)])
def test_the_arms_follow_the_motion(tmp_path: Path, mass: float, allowed: float) -> None:
    stack = Stack(tmp_path)
    states = begin_motion(stack, mass)
    stack.pass_time(END)
    assert stack.client.now.mode == Mode.LOCOMOTION, stack.client.now.status_message
    motion, period = shipped_motion(), 0.02
    errors = [
        motion.at(tick * period)[0] - state.position
        for tick, state in enumerate(states)
        if tick * period >= SETTLED
    ]
    assert float(np.sqrt(np.mean(np.square(errors)))) < allowed


@pytest.mark.parametrize("mass", [0.0, 1.0])
def test_the_arms_rest_at_the_end_of_the_motion(tmp_path: Path, mass: float) -> None:
    stack = Stack(tmp_path)
    states = begin_motion(stack, mass)
    stack.pass_time(END + 3.0)
    assert stack.client.now.mode == Mode.LOCOMOTION, stack.client.now.status_message
    states.clear()
    stack.pass_time(1.0)
    assert np.abs([it.velocity for it in states]).max() < STILL
