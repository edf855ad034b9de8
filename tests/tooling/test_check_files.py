"""`make lint` checks files that other systems run, and finds their errors."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml

import check_files

ROOT = Path(__file__).resolve().parents[2]
BROKEN = {  # for each program, errors that it must find
    "cc": ("src/arm/arm/safety/kernel.c", "int f(int x, int y) { return x; }\n"),
    "hadolint": ("docker/Dockerfile", "FROM ros:jazzy\nRUN cd /tmp && sudo apt-get install\n"),
    "shellcheck": ("docker/entrypoint.sh", "#!/bin/bash\nif [ $1 = x; then echo\n"),
    "actionlint": (".github/workflows/ci.yml", "on: push\njobs: {a: {steps: [{run: ls}]}}\n"),
    "vendor.compose-spec": ("docker/compose.yaml", "services: {sim: {network: host}}\n"),
    "vendor.github-workflows": (".github/workflows/ci.yml", "on: push\njobs: {a: {steps: 1}}\n"),
    "vendor.dependabot": (".github/dependabot.yml", "version: 2\nupdates: [{directory: /}]\n"),
    "vendor.github-issue-config": (".github/ISSUE_TEMPLATE/config.yml", "blank_issues: true\n"),
    "vendor.github-issue-forms": (".github/ISSUE_TEMPLATE/bug.yml", "name: Bug\nbody: []\n"),
}


def name_of(check: check_files.Check) -> str:
    """The program, or the schema it checks against."""
    return check.command[-1] if check.command[0] == "check-jsonschema" else check.command[0]


CHECKS = {name_of(check): check for check in check_files.CHECKS}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_file_is_found(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file, text = BROKEN[name]
    check = CHECKS[name]
    if check.optional and shutil.which(check.command[0]) is None:
        pytest.skip(f"{check.command[0]} is not installed")
    (tmp_path / file).parent.mkdir(parents=True)
    (tmp_path / file).write_text(text)
    only = check_files.Check(check.command, (file,))
    assert check_files.main([only], tmp_path) == 1
    assert f"check: error: {check.command[0]} finds fault with {file}" in capfd.readouterr().err


def test_every_check_is_known_to_find_something() -> None:
    assert BROKEN.keys() == CHECKS.keys()


def test_every_pattern_finds_a_file() -> None:
    for check in check_files.CHECKS:
        assert check.files(ROOT)
    with pytest.raises(FileNotFoundError, match="no-such-file"):
        check_files.Check(("true",), ("no-such-file",)).files(ROOT)


def test_a_program_that_a_platform_lacks_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    absent = check_files.Check(("no-such-program",), ("env.sh",), optional=True)
    assert check_files.main([absent], ROOT) == 0
    assert "no-such-program is not installed, 1 files were not checked" in capsys.readouterr().out


def test_check_reports_the_errors_of_all_files(capfd: pytest.CaptureFixture[str]) -> None:
    faults = [check_files.Check(("false",), (name,)) for name in ("env.sh", "Makefile")]
    assert check_files.main(faults, ROOT) == 1
    output = capfd.readouterr().err
    assert "env.sh" in output
    assert "Makefile" in output


def test_every_shell_script_is_checked() -> None:
    checked = set(CHECKS["shellcheck"].files(ROOT))
    scripts = {
        str(file.relative_to(ROOT))
        for folder in (".ci", "scripts", "docker", ".github")
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and file.read_bytes().startswith(b"#!/usr/bin/env bash")
    }
    assert scripts
    assert scripts <= checked


def test_bug_reports_ask_for_the_doctor() -> None:
    form = yaml.safe_load((ROOT / ".github/ISSUE_TEMPLATE/bug.yml").read_text())
    required = [part for part in form["body"] if part.get("validations", {}).get("required")]
    assert [part for part in required if "hc doctor" in part["attributes"]["label"]]


def test_every_supported_distribution_is_in_the_matrix_with_nothing_skipped() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    matrix = jobs["workspace"]["strategy"]["matrix"]["include"]
    native = {row["ros"]: row["container"] for row in matrix if "ros" in row}
    assert native == {name: f"ros:{name}-ros-base" for name in ("jazzy", "kilted", "lyrical")}
    assert len(matrix) - len(native) == len({"Debian", "Ubuntu"})
    steps = yaml.safe_load((ROOT / ".github/workflows/workspace.yml").read_text())
    environment = steps["jobs"]["check"]["env"]
    for name in ("HUMANOID_REQUIRE_LAUNCH", "HUMANOID_REQUIRE_AMENT_LINT"):
        assert environment[name] == "${{ inputs.ros && '1' || '' }}"
