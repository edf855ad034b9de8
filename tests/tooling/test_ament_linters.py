"""ament's linters run if they are installed; where they are required, absence is an error."""

from __future__ import annotations

import pytest

import ament_linters

ABSENT = ["ament_no_such_linter"]


@pytest.fixture(autouse=True)
def not_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ament_linters.REQUIRED, raising=False)


def test_linter_that_is_not_installed_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert ament_linters.main([ABSENT]) == 0
    assert "not installed and not run: ament_no_such_linter" in capsys.readouterr().out


def test_linter_that_is_not_installed_fails_where_linters_are_required(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(ament_linters.REQUIRED, "1")
    assert ament_linters.main([ABSENT]) == 1
    assert ament_linters.main([["true"]]) == 0


def test_a_linter_without_the_program_that_it_runs_counts_as_not_installed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(ament_linters, "PROGRAMS", {"false": "no_such_program"})
    assert ament_linters.main([["false"]]) == 0
    assert "not installed and not run: false" in capsys.readouterr().out


def test_a_fault_is_shown_and_hides_no_other(capfd: pytest.CaptureFixture[str]) -> None:
    shows = ["sh", "-c", "echo the fault; exit 1"]
    assert ament_linters.main([shows, ["false"], ["true"]]) == 1
    output = capfd.readouterr()
    assert "the fault" in output.out
    assert "sh, false found fault" in output.err


def test_every_package_of_the_workspace_is_looked_at_and_nothing_imported() -> None:
    names = {path.removeprefix("src/") for path in ament_linters.OURS}
    assert {"humanoid_control_common", "humanoid_devices", "prime_description"} <= names
    assert "external" not in names
