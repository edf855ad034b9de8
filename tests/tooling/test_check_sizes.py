"""`make lint` fails if a folder or a module is too large."""

from __future__ import annotations

from pathlib import Path

import pytest

import check_sizes

PACKAGE = "src/arm/arm"


def write(root: Path, folder: str, *names: str, lines: int = 1) -> None:
    (root / folder).mkdir(parents=True, exist_ok=True)
    for name in names:
        (root / folder / name).write_text("x = 1\n" * lines)


def numbered(count: int) -> list[str]:
    return [f"module_{number}.py" for number in range(count)]


def test_the_workspace_has_no_fault() -> None:
    assert check_sizes.faults(check_sizes.ROOT) == []
    assert len(check_sizes.modules(check_sizes.ROOT)) > 500


@pytest.mark.parametrize("folder", [PACKAGE, "benchmarks/arm", "scripts/arm", "tests/arm"])
def test_a_folder_has_at_most_fifteen_modules(tmp_path: Path, folder: str) -> None:
    write(tmp_path, folder, "__init__.py", *numbered(15))
    assert check_sizes.main(tmp_path) == 0
    write(tmp_path, folder, "one_more.c")
    (fault,) = check_sizes.faults(tmp_path)
    assert fault == f"{folder}: 16 modules, expected at most 15: use sub-folders"
    assert check_sizes.main(tmp_path) == 1


def test_modules_of_a_sub_folder_do_not_count_for_the_folder_above(tmp_path: Path) -> None:
    write(tmp_path, PACKAGE, *numbered(15))
    write(tmp_path, f"{PACKAGE}/wire", *numbered(15))
    assert check_sizes.faults(tmp_path) == []


def test_a_module_has_at_most_400_lines(tmp_path: Path) -> None:
    write(tmp_path, PACKAGE, "motor.py", lines=400)
    assert check_sizes.faults(tmp_path) == []
    write(tmp_path, PACKAGE, "motor.py", lines=401)
    (fault,) = check_sizes.faults(tmp_path)
    assert fault == f"{PACKAGE}/motor.py: 401 lines, expected at most 400: one idea per module"


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("src/arm/test", "robot.py"),
        ("src/arm/test/wire", "test_frames.py"),
        ("tests/arm", "test_frames.py"),
        ("src/external/other/other", "large.py"),
        (PACKAGE, "messages_pb2.py"),
    ],
)
def test_tests_generated_modules_and_external_sources_are_not_counted(
    tmp_path: Path, folder: str, name: str
) -> None:
    write(tmp_path, folder, name, lines=401)
    assert check_sizes.faults(tmp_path) == []
