"""Check the machine before anything is installed; each failure states its remedy."""

from __future__ import annotations

import importlib.util
import platform
import re
import shutil
import sysconfig
from pathlib import Path

# .venv takes 0.9 GB, the downloads and build/ the rest.
FREE_DISK_BYTES = 2_000_000_000


class SetupError(Exception):
    """The workspace can't be set up; the message is one sentence with the remedy."""


def check_machine(root: Path, *, wheels: bool) -> None:
    """Check the requirements of the workspace. Raises SetupError for the first that is missing."""
    check_path(root)
    if wheels:
        check_platform(platform.system(), platform.machine())
    check_debian_packages()
    check_disk(root)


def check_path(root: Path) -> None:
    """Refuse a path that colcon, setuptools or CMake cannot handle; CMake reads ASCII only."""
    if wrong := re.search(r"[^!-~]|[:;<>'\"$`\\]", str(root)):
        raise SetupError(
            f"colcon cannot work in '{root}', which has the character '{wrong[0]}' in its name: "
            "move or rename the folder"
        )


def check_platform(system: str, machine: str) -> None:
    """Check the platform. Raises SetupError on one that has no wheels."""
    if (system, machine) != ("Linux", "x86_64"):
        raise SetupError(
            f"the ROS 2 wheels exist for Linux x86_64 only and this is {system} {machine}: "
            "install ROS 2 Jazzy natively, source its setup.bash and run `make setup` again"
        )


def check_debian_packages() -> None:
    """Check compiler, headers and venv, which Debian and Ubuntu ship as packages of their own."""
    header = Path(sysconfig.get_path("include"), "Python.h")
    present = {
        "a C compiler (gcc)": shutil.which("gcc") or shutil.which("cc"),
        "a C++ compiler (g++)": shutil.which("g++") or shutil.which("c++"),
        f"the headers of Python ({header})": header.is_file(),
        "Python's venv module": all(map(importlib.util.find_spec, ("venv", "ensurepip"))),
    }
    missing = [what for what, found in present.items() if not found]
    if missing:
        raise SetupError(
            f"{' and '.join(missing)} not found: run "
            f"`sudo apt install build-essential {_python_package('dev')} {_python_package('venv')}`"
        )


def check_disk(root: Path) -> None:
    """Check the room for wheels, their downloads and build/."""
    free = shutil.disk_usage(root).free
    if free < FREE_DISK_BYTES:
        raise SetupError(
            f"{free / 1e9:.1f} GB are free in {root}, {FREE_DISK_BYTES / 1e9:.0f} GB are "
            "needed: make room first"
        )


def _python_package(suffix: str) -> str:
    """Return Debian's name of a part of the running Python."""
    major, minor, _ = platform.python_version_tuple()
    return f"python{major}.{minor}-{suffix}"
