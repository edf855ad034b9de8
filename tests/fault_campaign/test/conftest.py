"""Fixtures of the campaign's tests."""

from __future__ import annotations

import pytest

from humanoid_bringup.plan import plan
from humanoid_stepped.robot import stepped_options


@pytest.fixture(scope="session", autouse=True)
def expanded(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Expand the robots' descriptions: the processes that are copied from this one need them."""
    for robot in ("prime", "lite"):
        plan(stepped_options(robot), tmp_path_factory.mktemp("expanded"))
