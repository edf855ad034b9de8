"""The folder of links to the Python packages of the workspace."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import module_links


def add(folder: Path, name: str, text: str = "") -> None:
    """Add a package with its metadata, as a build leaves them."""
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(text)
    (folder / f"{name}.egg-info").mkdir()


def linked(root: Path) -> set[str]:
    return {path.name for path in (root / "install" / module_links.LINKS).iterdir()}


def replaced(root: Path) -> list[str]:
    return (root / "install" / module_links.REPLACED).read_text().splitlines()


def test_packages_and_their_metadata_are_linked_and_nothing_else(tmp_path: Path) -> None:
    developed = tmp_path / "build/arm"
    installed = tmp_path / "install/arm_msgs/lib/python3.11/site-packages"
    add(developed, "arm", "print('an arm')")
    (developed / "setup.py").touch()
    (developed / "share").mkdir()
    add(installed, "arm_msgs")
    module_links.link_modules(tmp_path)
    assert linked(tmp_path) == {"arm", "arm.egg-info", "arm_msgs", "arm_msgs.egg-info"}
    assert replaced(tmp_path) == [str(developed), str(installed)]
    links = tmp_path / "install" / module_links.LINKS
    command = [sys.executable, "-c", "import arm, arm_msgs"]
    assert subprocess.run(command, cwd=links, check=True, capture_output=True).stdout


def test_links_follow_the_build(tmp_path: Path) -> None:
    add(tmp_path / "build/arm", "arm")
    add(tmp_path / "build/leg", "leg")
    module_links.link_modules(tmp_path)
    (tmp_path / "build/arm").rename(tmp_path / "build/new_arm")
    (tmp_path / "build/leg").rename(tmp_path / "leg")
    module_links.link_modules(tmp_path)
    assert linked(tmp_path) == {"arm", "arm.egg-info"}
    link = tmp_path / "install" / module_links.LINKS / "arm"
    assert link.readlink() == tmp_path / "build/new_arm/arm"
    assert replaced(tmp_path) == [str(tmp_path / "build/new_arm")]


def test_folder_with_a_package_that_exists_twice_stays_on_the_path(tmp_path: Path) -> None:
    add(tmp_path / "build/arm", "arm")
    add(tmp_path / "build/copy_of_arm", "arm")
    module_links.link_modules(tmp_path)
    assert replaced(tmp_path) == [str(tmp_path / "build/arm")]
