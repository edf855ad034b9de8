"""Expands the xacro of Prime in process, so that nobody needs the `xacro` program."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree
from xml.parsers.expat import ExpatError

import xacro
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from humanoid_control_common.errors import ConfigError

PACKAGE = "prime_description"
XACRO_FILE = Path("robots/prime_dummy/xacro/prime_dummy.urdf.xacro")
XACRO_ARGUMENT = "{http://www.ros.org/wiki/xacro}arg"


def expand(mappings: Mapping[str, str], xacro_file: Path | None = None) -> str:
    """URDF of Prime, as XML text.

    `mappings` are the arguments declared in prime_dummy.urdf.xacro, all as text, booleans too.
    `xacro_file` replaces the installed file. Not thread-safe: xacro keeps global state.

    Raises ConfigError for an argument that is unknown or has a bad value, and for a hardware file
    that is missing, malformed or contradicts itself.
    """
    path = xacro_file or _share() / XACRO_FILE
    try:
        _check_names(mappings, path)
        return str(xacro.process_file(str(path), mappings=dict(mappings)).toprettyxml(indent="  "))
    except (xacro.XacroException, ExpatError, ElementTree.ParseError, OSError) as error:
        raise ConfigError(f"{path}: {error}") from error


def _share() -> Path:
    try:
        return Path(get_package_share_directory(PACKAGE))
    except PackageNotFoundError as error:
        raise ConfigError(
            f"package {PACKAGE} is not installed: build the workspace and source its setup file"
        ) from error


def _check_names(mappings: Mapping[str, str], path: Path) -> None:
    """Raises ConfigError for an argument that isn't declared: xacro itself would ignore it."""
    known = {element.get("name", "") for element in ElementTree.parse(path).iter(XACRO_ARGUMENT)}
    if unknown := sorted(mappings.keys() - known):
        raise ConfigError(f"{path}: unknown arguments {unknown}; known are {sorted(known)}")
