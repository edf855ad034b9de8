"""Every reason code is in a documented table, and none is left that no program gives."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from humanoid_control_cli.reason_codes import CODE_OF_NAME, TABLES
from humanoid_control_common.reasons import CodeTable, ReasonCode

SOURCES = Path(__file__).parents[1] / "src"
PRODUCT = [
    file
    for file in SOURCES.rglob("*.py")
    if not {"test", "build", "install"} & set(file.relative_to(SOURCES).parts)
]
MODULES = [
    file for file in PRODUCT if file.name == "reason_codes.py" and "cli" not in file.parent.name
]


@pytest.mark.parametrize("file", MODULES, ids=lambda file: file.parent.name)
def test_the_tables_of_all_packages_are_documented(file: Path) -> None:
    module = importlib.import_module(f"{file.parent.name}.reason_codes")
    assert isinstance(module.CODES, CodeTable)
    assert module.CODES in TABLES


def test_codes_are_made_by_tables_only() -> None:
    """So that every code that is given has a meaning and a remedy in a table."""
    makers = {
        str(file.relative_to(SOURCES))
        for file in PRODUCT
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == ReasonCode.__name__
    }
    assert makers == {"humanoid_control_common/humanoid_control_common/reasons.py"}


def test_every_code_is_given_by_some_program() -> None:
    used = {
        node.id if isinstance(node, ast.Name) else node.attr
        for file in PRODUCT
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
    }
    of_tables = ("_REFUSED", "_WAITS")  # by intent: see humanoid_control_common.modes
    unused = [
        name
        for name in CODE_OF_NAME
        if name not in used and not name.endswith(of_tables) and "DRIVE_ERROR_" not in name
    ]
    assert unused == []
