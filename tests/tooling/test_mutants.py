"""`make mutants` lists the mutants that no test detects, and fails if its list is out of date."""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
import sys
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
ENDLESS = "found = 'value > 3', put = 'value > next(v for v in iter(int, 1) if v)'"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace with one package of a unique name, `package`."""
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
    """Run the inner tests without plug-ins that they do not need."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTEST_ADDOPTS", "-p xdist.plugin")


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give tests little time: only where all mutants hang, as a busy machine takes longer."""
    monkeypatch.setattr(mutants, "SHORTEST", 0.1)


def test_only_a_failed_test_kills_a_mutant_and_the_others_are_printed_last(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = (root / "src/package/package/limit.py").read_text()
    assert run(root, NOTICED, SURVIVES, "['value > 3', 'value >']") == 1
    output = capsys.readouterr().out
    file = "src/package/package/limit.py"
    assert f"killed: {file}: value > 3  ->  value > 30\n" in output
    assert f"\n{file}: # metres  ->  # feet: survived\n" in output
    assert f"\n{file}: value > 3  ->  value >: no program: pytest ended with 2" in output
    assert output.splitlines()[-1].startswith(
        "mutants: RED: 3 mutants: 1 killed, 0 hung, 1 survived, 1 no program; "
    )
    assert (root / file).read_text() == before


def test_the_run_is_green_if_all_mutants_are_killed(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(root, NOTICED) == 0
    last = capsys.readouterr().out.splitlines()[-1]
    assert re.fullmatch(r"mutants: green: 1 mutants: 1 killed, 0 hung, .*; \d+ s", last)


@pytest.mark.usefixtures("impatient")
def test_tests_that_come_to_no_end_are_distinguished_and_kill_nothing(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(root, f"{{{ENDLESS}}}") == 1
    output = capsys.readouterr().out
    assert "NOT KILLED: hung: src/package/package/limit.py: value > 3  ->" in output
    assert re.search(r"if v\): hung: no end within \d+ s\n", output)
    assert "RED: 1 mutants: 0 killed, 1 hung, 0 survived" in output.splitlines()[-1]


@pytest.mark.usefixtures("impatient")
def test_tests_may_hang_where_the_row_has_a_reason(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(root, f"{{{ENDLESS}, hangs = true, reason = 'it waits'}}") == 0
    output = capsys.readouterr().out
    assert "hung, as listed: it waits: src/package/package/limit.py" in output
    assert "green: 1 mutants: 0 killed, 1 hung" in output.splitlines()[-1]


def test_surviving_mutant_that_may_hang_fails_the_run(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = "{found = '# metres', put = '# feet', hangs = true, reason = 'it waits'}"
    assert run(root, row) == 1
    assert "0 hung, 1 survived" in capsys.readouterr().out.splitlines()[-1]


def test_time_limit_of_a_mutant_is_a_multiple_of_what_its_tests_take_without_it(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    limits = []

    def test(_: mutants.SourceCopy, __: object, limit: float) -> tuple[int, str]:
        limits.append(limit)
        now[0] += 7.0
        return (mutants.PASSED if len(limits) == 1 else mutants.FAILED), ""

    now = [100.0]
    monkeypatch.setattr("mutants.time.monotonic", lambda: now[0])
    monkeypatch.setattr(mutants.SourceCopy, "test", test)
    assert run(root, NOTICED) == 0
    assert limits == [mutants.LONGEST, mutants.TIMES * 7.0]
    assert capsys.readouterr().out.splitlines()[-1].endswith("; 14 s")


def test_mutants_of_the_same_size_in_the_same_second_are_distinguished(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Byte code must not be used after a change of its source."""
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    file = root / "src/package/package/limit.py"
    written = Path.write_text

    def write(path: Path, text: str, encoding: str | None = None) -> int:
        count = written(path, text, encoding=encoding)
        os.utime(path, (1e9, 1e9))
        return count

    monkeypatch.setattr(Path, "write_text", write)
    write(file, file.read_text())
    assert run(root, "['value > 3', 'value > 4']", "['value > 3', 'value > 2']") == 1
    assert "1 killed, 0 hung, 1 survived" in capsys.readouterr().out


SETUP = """
from setuptools import Extension, setup
setup(name="package", ext_modules=[Extension("package.kernel", ["package/kernel.c"])])
"""
KERNEL = """
#include <Python.h>
static PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "kernel", .m_size = 3};
PyMODINIT_FUNC PyInit_kernel(void)
{
    PyObject *made = PyModule_Create(&module);
    PyModule_AddIntConstant(made, "limit", 4); /* metres */
    return made;
}
"""


def test_changed_c_is_compiled(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mutants, "SHORTEST", 60.0)  # of these tests none hangs
    package = root / "src/package"
    (package / "setup.py").write_text(SETUP)
    (package / "package/kernel.c").write_text(KERNEL)
    (package / "test/test_limit.py").write_text(
        "from package.kernel import limit\n\n\ndef test_it():\n    assert limit == 4\n"
    )
    build = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    subprocess.run(build, cwd=package, check=True)
    path = root / "mutants.toml"
    rows = """['"limit", 4', '"limit", 5'], ['metres', 'feet'], ['"limit", 4', '"limit" 4']"""
    path.write_text(AREA.format(rows=rows).replace('limit.py"\ntests', 'kernel.c"\ntests'))
    assert mutants.main([], root, path) == 1
    output = capsys.readouterr().out
    assert 'killed: src/package/package/kernel.c: "limit", 4  ->  "limit", 5\n' in output
    assert "kernel.c: metres  ->  feet: survived\n" in output
    assert '->  "limit" 4: no program: it does not compile:\n' in output


@pytest.mark.usefixtures("impatient")
def test_programs_of_hung_tests_are_ended_with_them(root: Path, tmp_path: Path) -> None:
    path = tmp_path / "locked"
    (root / "src/package/test/test_limit.py").write_text(
        "import fcntl, subprocess\nfrom package.limit import limited\n\n\ndef test_it():\n"
        "    if limited(4):\n        return\n"
        f"    file = open({str(path)!r}, 'w')\n"
        "    fcntl.flock(file, fcntl.LOCK_EX)\n"
        "    subprocess.run(['sleep', '1000'], pass_fds=[file.fileno()])\n"
    )
    assert run(root, NOTICED) == 1
    with path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # waits while a program still has it open


def test_tests_that_hang_without_a_mutant_fail_the_run(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mutants, "LONGEST", 0.01)
    assert run(root, NOTICED) == 1
    assert "no end within 0.01 s without a mutant" in capsys.readouterr().out


def test_row_may_name_tests_of_its_own(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (root / "src/package/test/test_none.py").write_text("def test_it():\n    pass\n")
    own = "{found = 'value > 3', put = 'value > 30', tests = ['src/package/test/test_none.py']}"
    assert run(root, own) == 1
    assert "survived" in capsys.readouterr().out


def test_tests_that_fail_without_a_mutant_fail_the_run(
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
        ([f"{{{ENDLESS}, hangs = true}}"], "goes with a 'reason'"),
        ([f"{{{ENDLESS}, hangs = true, reason = ''}}"], "goes with a 'reason'"),
        ([f"{{{ENDLESS}, reason = 'it waits'}}"], "goes with a 'reason'"),
        ([f"{{{ENDLESS}, test = []}}"], "keys"),
        (["['value > 3']"], "can't be read"),
    ],
)
def test_list_of_mutants_that_does_not_fit_the_sources_fails_the_run(
    rows: list[str],
    flaw: str,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delattr(mutants.SourceCopy, "test")  # nothing may be run
    assert run(root, *rows) == 1
    assert flaw in capsys.readouterr().out


def test_the_list_fits_the_sources_and_is_long_enough() -> None:
    listed = mutants.read(mutants.LIST)
    assert mutants.flaws(listed, mutants.ROOT) == []
    assert len(listed) >= LEAST
    missing = {test for mutant in listed for test in mutant.tests}
    assert [test for test in missing if not _exists(test)] == []


def _exists(test: str) -> bool:
    path, _, name = test.partition("::")
    file = mutants.ROOT / path
    return file.exists() and (not name or f"def {name.split('[')[0]}(" in file.read_text())
