"""Run pip in a virtual environment so that the next run can repair an interrupted one."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from preflight import SetupError
from ros_prefix import site_packages

ATTEMPTS = 2  # pip repeats a connection by itself, but not a download that breaks off half-way
UNREACHABLE = "Retrying (Retry("  # pip's warning before it tries to connect again


def environment() -> dict[str, str]:
    """Return the user's environment without variables that lead out of a venv."""
    hidden = {"PYTHONPATH", "PYTHONHOME", "PIP_TARGET", "PIP_PREFIX"}
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    # The ROS wheels would re-execute pip once they are there; nothing of theirs is used by it.
    return kept | {"PIP_USER": "0", "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1"}


def works(venv: Path) -> bool:
    """Return whether the pip of `venv` can be run."""
    try:
        command = [str(venv / "bin/python"), "-m", "pip", "--version"]
        tried = subprocess.run(command, env=environment(), capture_output=True, check=False)
        return tried.returncode == 0
    except OSError:
        return False


def drop_incomplete_packages(venv: Path) -> None:
    """Remove pip's record of every package of which a file is missing: pip installs it again.

    For pip, a package is installed as soon as it has metadata; pip writes the list of files last.
    """
    site = site_packages(venv)
    for leftover in site.glob("~*"):  # files that pip moved aside and did not delete
        shutil.rmtree(leftover, ignore_errors=True)
    for metadata in site.glob("*.dist-info"):
        if not _is_complete(metadata):
            shutil.rmtree(metadata)


def _is_complete(metadata: Path) -> bool:
    try:
        rows = list(csv.reader((metadata / "RECORD").read_text().splitlines()))
    except FileNotFoundError:
        return False
    files = (row[0] for row in rows if row and not row[0].endswith(".pyc"))
    return all(os.path.exists(metadata.parent / file) for file in files)


def install(
    venv: Path,
    requirements: Sequence[Path],
    constraints: Path,
    *,
    refresh: Callable[[], None],
    keep_open: int,
) -> None:
    """Install `requirements` into `venv`; calls `refresh` once a second.

    pip inherits the file descriptor `keep_open`, so that a lock outlives a killed caller. Raises
    SetupError with pip's reason when the last attempt fails.
    """
    log = venv / "pip.log"
    command = [str(venv / "bin/python"), "-m", "pip", "install", "--quiet", "--no-input"]
    command += ["--no-compile"]  # one file after another: see compile_all
    command += ["--log", str(log), "--disable-pip-version-check", "--constraint", str(constraints)]
    command += [part for file in requirements for part in ("--requirement", str(file))]
    for _ in range(ATTEMPTS):
        drop_incomplete_packages(venv)
        errors = _run(command, refresh, keep_open)
        if errors is None:
            return
    raise SetupError(
        f"installing requirements/{requirements[-1].name} failed: {_cause(errors or '')}; "
        f"run `make setup` again to go on (pip's log: {log})"
    )


def compile_all(venv: Path) -> None:
    """Compile the modules without byte code, on all cores, except the tests of the packages.

    Templates among the packages that are no valid Python stay as they are.
    """
    command = [str(venv / "bin/python"), "-m", "compileall", "-qq", "-j0", "-x", "/tests?/"]
    command += [str(site_packages(venv))]
    subprocess.run(command, env=environment(), stdout=subprocess.DEVNULL, check=False)


def _run(command: Sequence[str], refresh: Callable[[], None], keep_open: int) -> str | None:
    """Return pip's error, or None if it succeeded."""
    with subprocess.Popen(
        command,
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        pass_fds=[keep_open],
    ) as pip:
        while True:
            try:
                _, errors = pip.communicate(timeout=1)
            except subprocess.TimeoutExpired:
                refresh()
            else:
                return None if pip.returncode == 0 else errors


def _cause(errors: str) -> str:
    """Return the most specific line of pip's complaints."""
    if UNREACHABLE in errors:
        return "the package index cannot be reached, check the network and `pip config list`"
    lines = errors.splitlines() or ["pip ended without a message"]
    return next((line for line in reversed(lines) if line.startswith("ERROR:")), lines[-1])
