"""The page of the joint stream's cases names existing tests for every case."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/verification/joint_stream.md"
CASES = 41
_ROW = re.compile(r"\| (\d+) \|.*")
_CASES = re.compile(r"[Cc]ases? ((?:\d+(?:, | and | to )?(?:\([^)]*\))?(?:, )?)+)")
_TEST = re.compile(r"\[(test_\w+)\]\(([^)]+)\)")


def rows() -> dict[int, list[tuple[str, Path]]]:
    """The tests of each case: name and file."""
    found = {}
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if (row := _ROW.match(line)) is not None:
            tests = [(name, PAGE.parent / file) for name, file in _TEST.findall(line)]
            found[int(row[1])] = tests
    return found


def docstrings(file: Path) -> dict[str, str]:
    """The docstring of each test of a file."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    tests = [it for it in tree.body if isinstance(it, ast.FunctionDef)]
    return {it.name: ast.get_docstring(it) or "" for it in tests}


def numbers(docstring: str) -> set[int]:
    """The cases that a docstring names, such as `Cases 4, 6 and 13 to 17`."""
    found: set[int] = set()
    for text in re.findall(
        r"[Cc]ases? ((?:\d+(?:, | and | to )?(?:\([^)]*\))?(?:, )?)+)", docstring
    ):
        plain = re.sub(r"\([^)]*\)", "", text)
        for one, last in re.findall(r"(\d+)(?: to (\d+))?", plain):
            found |= set(range(int(one), int(last or one) + 1))
    return found


def test_every_case_has_tests_which_name_it() -> None:
    table = rows()
    assert list(table) == list(range(1, CASES + 1))
    for case, tests in table.items():
        assert tests, case
        for name, file in tests:
            assert case in numbers(docstrings(file)[name]), (case, name)
