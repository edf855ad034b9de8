"""The steps that docs/architecture.md lists exist."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/architecture.md"
LONGEST = 25  # steps of one life
STEP = re.compile(r"^\| \d+ \| \[[^]]+\]\(\.\./([^)]+)\) \| `([\w.]+)` \| \S.* \|$", re.MULTILINE)


def steps(heading: str) -> list[tuple[str, str]]:
    """File and function of each step below a heading."""
    _, _, rest = PAGE.read_text(encoding="utf-8").partition(f"\n## {heading}\n")
    return STEP.findall(rest.partition("\n## ")[0])


LIVES = {life: steps(f"The life of a {life}") for life in ("command", "measurement")}


@pytest.mark.parametrize("life", LIVES)
def test_a_life_is_short_enough_to_be_read(life: str) -> None:
    assert 10 <= len(LIVES[life]) <= LONGEST


@pytest.mark.parametrize(("file", "function"), [step for life in LIVES.values() for step in life])
def test_a_step_names_a_function_that_exists(file: str, function: str) -> None:
    body = ast.parse((ROOT / file).read_text(encoding="utf-8")).body
    for name in function.split("."):
        found = [
            node
            for node in body
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name
        ]
        assert found, f"{file} has no {function}"
        body = found[0].body
