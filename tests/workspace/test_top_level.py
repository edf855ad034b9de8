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


def test_tests_without_their_tools_name_the_command_to_run() -> None:
    script = (
        "import sys; sys.modules.update(hypothesis=None, pytest_timeout=None, xdist=None); "
        "import pytest; sys.exit(pytest.main(['-q', '--collect-only', "
        "'tests/workspace/test_top_level.py']))"
    )
    bare = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    run = subprocess.run(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=bare,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == pytest.ExitCode.USAGE_ERROR
    assert run.stderr.startswith(
        "ERROR: tests need hypothesis, pytest_timeout, xdist: run `make setup`"
    )
