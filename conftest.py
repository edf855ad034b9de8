"""Which tests need the machine for themselves, and a ROS domain for each worker of the others."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent
# Real processes, buses in wall time, threads that must be on time: not beside anything else.
ALONE = (
    "faults/test_campaign.py",
    "src/humanoid_bringup_prime/test/launch/",
    "src/humanoid_bringup_prime/test/test_",
    "src/humanoid_control_cli/",
    "src/humanoid_devices/humanoid_devices_can/",
    "src/humanoid_devices/humanoid_devices_robstride/",
    "src/humanoid_devices/humanoid_devices_sito/",
    "src/humanoid_twin/test/can/test_process.py",
    "src/humanoid_twin/test/ethercat/acceptance/",
    "src/humanoid_twin/test/robot/",
    "src/humanoid_viz/",
    "tests/test_benchmarks.py",
)
DOMAINS = 101  # that leave the ports of other programs alone


def pytest_configure(config: pytest.Config) -> None:
    """Workers run side by side: each in a domain of its own. The user's home is left alone."""
    if "ROS_HOME" not in os.environ:  # workers inherit it; for logs and files of the black box
        folder = tempfile.mkdtemp(prefix="humanoid_control_tests_")
        os.environ["ROS_HOME"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    worker = os.environ.get("PYTEST_XDIST_WORKER", "")
    if worker:
        number = int(os.environ.get("ROS_DOMAIN_ID", "0")) + int(worker.removeprefix("gw"))
        os.environ["ROS_DOMAIN_ID"] = str(number % DOMAINS + 1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what can't share the machine."""
    for item in items:
        if item.path.relative_to(ROOT).as_posix().startswith(ALONE):
            item.add_marker(pytest.mark.alone)
