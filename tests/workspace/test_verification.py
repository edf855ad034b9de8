"""The tests that pages of docs/verification name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs/verification").glob("*.md"))
# A file, or a test of the file named before it in the same table.
NAMED = re.compile(r"`(?:(?P<file>[\w/]+/test_\w+\.py)|(?P<test>test_\w+))`")


def missing(page: str) -> list[str]:
    """Return the files and tests in the text of a page that do not exist."""
    found, text, name = [], "", "no file"
    for match in NAMED.finditer(page):
        if match["file"]:
            name = match["file"]
            places = [folder / name for folder in (ROOT / "src", ROOT)]
            text = next((it.read_text("utf-8") for it in places if it.is_file()), "")
            found += [] if text else [name]
        elif f"def {match['test']}(" not in text:
            found.append(f"{name}: {match['test']}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_named_tests_exist(page: Path) -> None:
    assert missing(page.read_text("utf-8")) == []


def test_a_missing_test_is_found() -> None:
    here = "`tests/workspace/test_verification.py`"
    assert missing(f"{here}: `test_the_named_tests_exist`, `test_nothing`") == [
        "tests/workspace/test_verification.py: test_nothing"
    ]
    assert missing("`nowhere/test_x.py`: `test_y`") == [
        "nowhere/test_x.py",
        "nowhere/test_x.py: test_y",
    ]
