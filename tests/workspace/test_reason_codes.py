"""Every reason code is in a documented table, and a program gives it."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path

import pytest

from humanoid_control_cli.reason_codes import CODE_OF_NAME, TABLES
from humanoid_control_common.rules.reasons import CodeTable, ReasonCode

SOURCES = Path(__file__).parents[2] / "src"
PRODUCT = [
    file
    for file in SOURCES.rglob("*.py")
    if not {"test", "build", "install"} & set(file.relative_to(SOURCES).parts)
]
MODULES = [
    file for file in PRODUCT if file.name == "reason_codes.py" and "cli" not in file.parent.name
]


def module_name(file: Path) -> str:
    package = next(folder for folder in file.parents if (folder / "package.xml").exists())
    return ".".join(file.relative_to(package).with_suffix("").parts)


@pytest.mark.parametrize("name", [module_name(file) for file in MODULES])
def test_the_tables_of_all_packages_are_documented(name: str) -> None:
    module = importlib.import_module(name)
    assert isinstance(module.CODES, CodeTable)
    assert module.CODES in TABLES


def test_codes_are_made_by_tables_only() -> None:
    """Thus every code has a meaning and a remedy in a table."""
    makers = {
        str(file.relative_to(SOURCES))
        for file in PRODUCT
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == ReasonCode.__name__
    }
    assert makers == {"humanoid_control_common/humanoid_control_common/rules/reasons.py"}


def test_remedies_end_the_robot_with_damped_joints() -> None:
    """`hc mode quit` takes the damping of a raised arm, and is refused in stiff modes."""
    quitting = [code.name for code in CODE_OF_NAME.values() if "`hc mode quit`" in code.remedy]
    assert quitting == ["LOOP_STANDS_STILL"]  # says that it is refused


def test_every_code_is_given_by_some_program() -> None:
    used = {
        node.id if isinstance(node, ast.Name) else node.attr
        for file in PRODUCT
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Load)
    }
    of_tables = ("_REFUSED", "_WAITS")  # by intent: humanoid_control_common.rules.modes
    unused = [
        name
        for name in CODE_OF_NAME
        if name not in used and not name.endswith(of_tables) and "DRIVE_ERROR_" not in name
    ]
    assert unused == []
