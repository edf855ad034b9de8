"""The files at the top of the workspace describe its contents correctly."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
TARGETS = {"setup", "build", "sim", "test", "lint", "types", "bench", "clean", "distclean", "help"}


def test_make_alone_lists_every_target_with_what_it_does() -> None:
    printed = subprocess.run(["make"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    described = dict(re.findall(r"^make (\w+) +(\S.*)$", printed, flags=re.MULTILINE))
    assert described.keys() >= TARGETS


def test_make_runs_the_python_of_the_workspace_though_another_was_activated_later(
    tmp_path: Path,
) -> None:
    other = tmp_path / "python"
    other.write_text("#!/bin/sh\nexit 3\n")
    other.chmod(0o755)
    result = subprocess.run(
        ["make", "build", "ARGS=no_such_package"],
        cwd=ROOT,
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.stderr.startswith("build: error: no package no_such_package; ")


def test_every_imported_repository_is_pinned_to_a_release_and_kept_out_of_git() -> None:
    repositories = yaml.safe_load((ROOT / "bar.repos").read_text())["repositories"]
    assert repositories
    for path, repository in repositories.items():
        assert "/" not in path, "they are imported into src/external"
        assert repository["type"] == "git"
        assert repository["url"].endswith(".git")
        assert re.fullmatch(r"\d+\.\d+\.\d+", repository["version"])
    assert "/src/external/*" in (ROOT / ".gitignore").read_text().splitlines()


def test_interfaces_are_built_without_the_linters_that_wheels_lack() -> None:
    packages = yaml.safe_load((ROOT / "colcon.meta").read_text())["names"]
    assert "-DBUILD_TESTING=OFF" in packages["humanoid_control_msgs"]["cmake-args"]


@pytest.mark.parametrize(
    "name", ["ros-jazzy", "colcon", "runtime", "external", "dev", "pip", "constraints"]
)
def test_every_requirement_is_pinned(name: str) -> None:
    lines = (ROOT / "requirements" / f"{name}.txt").read_text().splitlines()
    wanted = [line for line in lines if line and not line.startswith(("#", "-r "))]
    assert wanted
    pin = re.compile(r"[\w.\[\]-]+==[\w.]+(; platform_machine == \"x86_64\")?")
    assert [line for line in wanted if not pin.fullmatch(line)] == []


def test_a_file_that_was_never_run_states_it() -> None:
    for name in ("docker/Dockerfile", "docker/compose.yaml", ".github/workflows/ci.yml"):
        assert "never" in (ROOT / name).read_text().splitlines()[0].lower(), name


def without_tools(*words: str) -> subprocess.CompletedProcess[str]:
    """Run pytest where the tools of `make setup` are not installed."""
    script = f"""
import sys, importlib.machinery
tools = "hypothesis", "pytest_timeout", "xdist"
class Absent(importlib.machinery.PathFinder):
    @classmethod
    def find_spec(cls, name, *given):
        return None if name in tools else super().find_spec(name, *given)
sys.meta_path[-1:] = [Absent]
import pytest
sys.exit(pytest.main(["-q", *{words!r}]))
"""
    path = os.pathsep.join((str(ROOT / "scripts/testing"), os.environ.get("PYTHONPATH", "")))
    bare = {**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    return subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=bare,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_test_runner_without_its_tools_names_the_command_to_run() -> None:
    run = without_tools("-p", "accounting", "--collect-only", "tests/workspace/test_top_level.py")
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert run.stderr.startswith(
        "ERROR: tests need hypothesis, pytest_timeout, xdist: run `make setup`"
    )


def test_single_tests_without_tools_run_and_name_what_they_skip() -> None:
    folder = "src/humanoid_control_common/test"
    run = without_tools(f"{folder}/test_safety.py", f"{folder}/test_joints.py")
    assert run.returncode == pytest.ExitCode.OK, run.stdout + run.stderr
    assert re.search(r"^[1-9]\d* passed, [1-9]\d* skipped", run.stdout, flags=re.MULTILINE)
