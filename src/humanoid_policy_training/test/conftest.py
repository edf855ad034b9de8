"""The reaching task of Prime."""

from __future__ import annotations

import pytest

from humanoid_policy_training.reaching_task import ReachingTask, reaching_task


@pytest.fixture(scope="session")
def task() -> ReachingTask:
    return reaching_task("prime")
