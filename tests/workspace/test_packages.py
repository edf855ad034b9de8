"""The common properties of all packages of the workspace."""

from __future__ import annotations

import ast
import re
import tomllib
from fnmatch import fnmatch
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
MANIFESTS = sorted(
    file
    for file in ROOT.glob("src/**/package.xml")
    if "external" not in file.relative_to(ROOT).parts
)
PACKAGES = [file.parent for file in MANIFESTS]
PYTHON_PACKAGES = [package for package in PACKAGES if (package / "setup.py").exists()]
NAMES = {ElementTree.parse(file).findtext("name") for file in MANIFESTS}
SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
DEVICES = "humanoid_control.hardware"  # the group of entry points

every_package = pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
every_python_package = pytest.mark.parametrize(
    "package", PYTHON_PACKAGES, ids=lambda package: package.name
)


def manifest(package: Path) -> ElementTree.Element:
    return ElementTree.parse(package / "package.xml").getroot()


def setup_arguments(package: Path) -> dict[str, object]:
    """The literal arguments of setup() in setup.py."""
    tree = ast.parse((package / "setup.py").read_text())
    (call,) = (
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setup"
    )
    return {
        str(keyword.arg): keyword.value.value
        for keyword in call.keywords
        if isinstance(keyword.value, ast.Constant)
    }


def test_the_workspace_has_its_packages() -> None:
    assert {"humanoid_control_msgs", "humanoid_control_common", "humanoid_control_cli"} <= NAMES
    assert len(PYTHON_PACKAGES) == len(PACKAGES) - 1, "interfaces alone cannot be ament_python"


@every_package
def test_every_package_states_licence_and_maintainer(package: Path) -> None:
    root = manifest(package)
    assert root.findtext("name") == package.name
    assert root.findtext("license") == "Apache-2.0"
    assert root.findtext("description", "").strip()
    assert "@" in root.find("maintainer").get("email")


def test_the_licence_is_there() -> None:
    assert "Apache License" in (ROOT / "LICENSE").read_text()


def test_all_packages_have_the_same_version() -> None:
    assert {manifest(package).findtext("version") for package in PACKAGES} == {"0.1.0"}


@every_python_package
def test_setup_and_manifest_agree(package: Path) -> None:
    root, arguments = manifest(package), setup_arguments(package)
    assert arguments["version"] == root.findtext("version")
    assert arguments["license"] == root.findtext("license")
    assert arguments["maintainer_email"] == root.find("maintainer").get("email")


@every_python_package
def test_ros_finds_the_package_by_its_marker(package: Path) -> None:
    marker = package / "resource" / package.name
    assert marker.is_file()
    assert f'package_name = "{package.name}"' in (package / "setup.py").read_text()


@every_python_package
def test_types_are_offered_to_other_packages(package: Path) -> None:
    assert (package / package.name / "py.typed").is_file()


@every_python_package
def test_colcon_finds_the_tests(package: Path) -> None:
    # setuptools ignores tests_require from version 72 on: `colcon test` would find none and pass.
    assert re.search(
        r"extras_require=.*\"test\": \[\"pytest\"\]", (package / "setup.py").read_text()
    )
    assert sorted((package / "test").rglob("test_*.py"))


def with_modules() -> list[Path]:
    return [it for it in PYTHON_PACKAGES if len(list((it / it.name).rglob("*.py"))) > 1]


def with_devices() -> list[Path]:
    return [it for it in PYTHON_PACKAGES if DEVICES in (it / "setup.py").read_text()]


@every_python_package
def test_the_types_of_every_package_are_checked(package: Path) -> None:
    place, settings = package.relative_to(ROOT).as_posix(), SETTINGS["mypy"]
    assert f"$MYPY_CONFIG_FILE_DIR/{place}" in settings["mypy_path"]
    checked = [pattern for pattern in settings["files"] if pattern.startswith("src")]
    assert any(fnmatch(f"{place}/{package.name}", pattern) for pattern in checked), checked


@pytest.mark.parametrize("package", with_modules(), ids=lambda package: package.name)
def test_the_imports_of_every_package_are_checked(package: Path) -> None:
    assert package.name in SETTINGS["importlinter"]["root_packages"]


@pytest.mark.parametrize("package", with_devices(), ids=lambda package: package.name)
def test_imports_of_a_device_package_are_allowed_where_they_belong_only(package: Path) -> None:
    contracts = SETTINGS["importlinter"]["contracts"]
    layers = [layer for it in contracts for layer in it.get("layers", [])]
    assert package.name in " | ".join(layers).split(" | ")
    for source in ("humanoid_viz", "humanoid_twin"):
        (contract,) = (it for it in contracts if it.get("source_modules") == [source])
        assert package.name in contract["forbidden_modules"], contract["name"]


def texts() -> list[Path]:
    """Return the files of the sources, without those that tools write."""
    kinds = {".py", ".md", ".yaml", ".yml", ".xml", ".xacro", ".toml", ".cfg", ".sh", ".txt"}
    folders = [*PACKAGES, *(ROOT / name for name in ("docs", "scripts", "docker", ".github"))]
    files = [*ROOT.glob("*"), *(file for folder in folders for file in folder.rglob("*"))]
    return [
        file
        for file in files
        if (file.suffix in kinds or file.name == "Makefile")
        and not any(part.startswith(".hypothesis") for part in file.parts)
    ]


def test_no_file_names_a_folder_of_one_machine() -> None:
    of_one_machine = re.compile(r"/(home|root|Users|work)/")
    files = texts()
    assert len(files) > len(PACKAGES)
    assert [str(file) for file in files if of_one_machine.search(file.read_text())] == []
