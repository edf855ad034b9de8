"""The measurement of a policy's time."""

from __future__ import annotations

from itertools import count

import pytest
from test_support.machine import TestMachine
from test_support.policies import policy_model

from humanoid_policy.model import PolicyModel
from humanoid_policy.timing import measured


def test_a_slow_policy_is_measured_in_a_few_seconds(properties: dict[str, str]) -> None:
    model = PolicyModel(policy_model(properties), "policy.onnx")
    reads = count()
    machine = TestMachine(lambda: 0.5 * next(reads))  # [s]: half a second from read to read
    times = measured(model, machine)
    assert times == pytest.approx((0.5, 0.5))
    assert next(reads) < 20
