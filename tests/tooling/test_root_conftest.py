"""The start of a test run: what the root's conftest.py needs, and what it says without it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ONE_FILE = "tests/tooling/test_ros_domains.py"


@pytest.mark.parametrize("workers", [(), ("-n", "1")])
def test_test_run_without_a_free_domain_reports_it_and_runs_no_test(
    tmp_path: Path, workers: tuple[str, ...]
) -> None:
    plugin = "from test_support.ros import ros_domains\nros_domains.DOMAINS = range(0)\n"
    (tmp_path / "no_domain.py").write_text(plugin, encoding="ascii")
    path = os.pathsep.join((str(tmp_path), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")))
    options = ("-p", "no:cacheprovider", "-p", "no_domain", *workers)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, ONE_FILE],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert "ERROR: tests or robots are on all ROS domains" in run.stderr
    assert "Traceback" not in run.stdout + run.stderr
