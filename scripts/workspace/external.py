"""Select the sources imported from bar.repos that `make` builds: those in bar/packages.txt."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

INDEX = "share/ament_index/resource_index/packages"


def imported(root: Path) -> bool:
    """Return whether something has been imported into src/external."""
    folder = root / "src" / "external"
    return folder.is_dir() and any(path.is_dir() for path in folder.iterdir())


def empty(root: Path) -> list[Path]:
    """Return the folders of src/external that a failed import left without sources."""
    if not imported(root):
        return []
    folders = sorted(path for path in (root / "src" / "external").iterdir() if path.is_dir())
    return [folder for folder in folders if not {path.name for path in folder.iterdir()} - {".git"}]


def wanted(root: Path, environment: Mapping[str, str]) -> list[Path]:
    """Return the folders of the listed packages that are there and not in the ROS 2 in use."""
    if not imported(root):
        return []
    prefixes = _installed_prefixes(root, environment)
    return [
        folder
        for folder in listed(root)
        if _is_whole(folder)
        and not any((prefix / INDEX / package_name(folder)).exists() for prefix in prefixes)
    ]


def listed(root: Path) -> list[Path]:
    """Return the folders that bar/packages.txt names, whether there or not."""
    lines = (root / "bar" / "packages.txt").read_text().splitlines()
    return [root / line for line in lines if line and not line.startswith("#")]


def package_name(folder: Path) -> str:
    """Return the name in package.xml of `folder`, which need not be that of the folder."""
    return ElementTree.parse(folder / "package.xml").findtext("name") or folder.name


def _is_whole(folder: Path) -> bool:
    """Return True if the repository was imported; without it a link into it leads nowhere."""
    return (folder / "package.xml").is_file() and all(path.exists() for path in folder.iterdir())


def _installed_prefixes(root: Path, environment: Mapping[str, str]) -> list[Path]:
    """Return the prefixes of ROS 2, without those that this workspace installed."""
    prefixes = [Path(part) for part in environment.get("AMENT_PREFIX_PATH", "").split(os.pathsep)]
    return [prefix for prefix in prefixes if not prefix.is_relative_to(root / "install")]
