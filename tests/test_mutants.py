"""`make mutants` tells which mutants no test notices, and is red if its list has gone stale."""

from __future__ import annotations

from pathlib import Path

import pytest

import mutants

LEAST = 80
AREA = """
[[area]]
file = "src/package/package/limit.py"
tests = ["src/package/test/test_limit.py"]
mutants = [{rows}]
"""
NOTICED = "['value > 3', 'value > 30']"
SURVIVES = "['# metres', '# feet']"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace of one package, `package`, which nothing else on the path has."""
    folder = tmp_path / "src/package"
    for name in ("package", "test"):
        (folder / name).mkdir(parents=True)
    (folder / "setup.py").touch()
    (folder / "package/__init__.py").touch()
    (folder / "package/limit.py").write_text(
        "def limited(value):\n    return value > 3  # metres\n"
    )
    (folder / "test/test_limit.py").write_text(
        "from package.limit import limited\n\n\ndef test_it():\n    assert limited(4)\n"
    )
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    return tmp_path


def run(root: Path, *rows: str) -> int:
    path = root / "mutants.toml"
    path.write_text(AREA.format(rows=", ".join(rows)))
    return mutants.main([], root, path)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Spares the tests within these tests what they don't need."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p xdist.plugin")


def test_only_a_failed_test_kills_and_the_rest_is_printed_last(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (root / "src/package/package/limit.py").read_text()
    assert run(root, NOTICED, SURVIVES, "['value > 3', 'value >']") == 1
    said = capsys.readouterr().out
    file = "src/package/package/limit.py"
    assert f"killed: {file}: value > 3  ->  value > 30\n" in said
    assert f"\n{file}: # metres  ->  # feet: survived\n" in said
    assert f"\n{file}: value > 3  ->  value >: pytest ended with 2" in said  # no program at all
    assert said.splitlines()[-1] == "mutants: RED: 1 of 3 killed"
    assert (root / file).read_text() == before


def test_it_is_green_if_all_are_killed(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(root, NOTICED) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "mutants: green: 1 of 1 killed"


def test_tests_that_fail_without_a_mutant_make_it_red(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "src/package/test/test_limit.py").write_text("def test_it():\n    assert False\n")
    assert run(root, NOTICED) == 1
    assert "fail without a mutant" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("rows", "flaw"),
    [
        (["['value > 4', 'value > 40']"], "found 0 times"),
        (["['value', 'height']"], "found 2 times"),
        (["['value > 3', 'value > 3']"], "changes nothing"),
        ([NOTICED, NOTICED], "listed twice"),
    ],
)
def test_a_list_that_does_not_fit_the_sources_makes_it_red(
    rows: list[str], flaw: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(root, *rows) == 1
    assert flaw in capsys.readouterr().out


def test_the_list_fits_the_sources_and_is_long_enough() -> None:
    listed = mutants.read(mutants.LIST)
    assert mutants.flaws(listed, mutants.ROOT) == []
    assert len(listed) >= LEAST
    missing = {test for mutant in listed for test in mutant.tests}
    assert [test for test in missing if not (mutants.ROOT / test.split("::")[0]).exists()] == []
