"""Build src/ with colcon, unless no input of a build has changed since the last one.

Python modules are linked into install/: only files that are copied, compiled or read by setup.py
count. Packages that bar.repos brought into src/external are built, too, if ROS lacks them
(external.py).
With names of packages, only these are built, with those that they need and that are not built yet.
Run it in the workspace's environment (.venv/setup.sh).
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import external
import module_links

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src"
STAMP = ROOT / "build" / "stamp.json"
REST = ""  # files of no package: colcon.meta, files between packages
COMMAND = [sys.executable, "-m", "colcon", "build", "--symlink-install", "--base-paths", "src"]


def is_looked_at(path: Path) -> bool:
    """Return True if a change of `path`, relative to the workspace, needs a new build."""
    if any(part in {"test", "__pycache__"} or part.startswith(".") for part in path.parts):
        return False
    if any(part.endswith(".egg-info") for part in path.parts):
        return False
    if path.suffix == ".py":
        return path.name == "setup.py" or path.name.endswith(".launch.py")
    return path.suffix not in {".md", ".so"}  # extension modules are made by the build itself


def source_files() -> Iterator[Path]:
    """Return all files below src/ by name, then those of the imported packages."""
    for top in (SOURCES, *imported_packages()):
        for folder, subfolders, names in os.walk(top, followlinks=False):
            if "COLCON_IGNORE" in names:
                subfolders.clear()
                continue
            subfolders.sort()
            yield from (Path(folder, name) for name in sorted(names))


def imported_packages() -> list[Path]:
    """Folders beside src/ that are built with it."""
    return external.wanted(ROOT, os.environ)


def packages() -> dict[str, Path]:
    """Return the folders of all packages by name."""
    manifests = (file for file in source_files() if file.name == "package.xml")
    return {external.package_name(file.parent): file.parent for file in manifests}


def fingerprints() -> dict[str, str]:
    """Return a hash of everything that the build of each package depends on."""
    names = {folder: name for name, folder in packages().items()}
    digests = {name: hashlib.sha256() for name in (REST, *names.values())}
    digests[REST].update((ROOT / "colcon.meta").read_bytes())
    for file in source_files():
        relative = file.relative_to(ROOT)
        digest = digests[next((names[top] for top in file.parents if top in names), REST)]
        if file.name == "__init__.py":  # a new Python package must be linked, with any content
            digest.update(f"{relative}\n".encode())
        elif is_looked_at(relative):
            digest.update(f"{relative}\n".encode() + file.read_bytes())
    return {name: digest.hexdigest() for name, digest in digests.items()}


def with_missing(names: Collection[str], folders: dict[str, Path]) -> set[str]:
    """Return packages and those of this workspace that they need and that are not built yet."""
    chosen, waiting = set(names), [*names]
    while waiting:
        manifest = ElementTree.parse(folders[waiting.pop()] / "package.xml").getroot()
        needed = {element.text or "" for element in manifest if element.tag.endswith("depend")}
        missing = {it for it in needed & folders.keys() - chosen if not _is_built(it)}
        chosen |= missing
        waiting += missing
    return chosen


def _is_built(name: str) -> bool:
    return (ROOT / "install" / name / "share/colcon-core/packages" / name).exists()


def environment() -> dict[str, str]:
    """Return the conditions for reusing build/ and install/: this folder, ROS and Python."""
    return dict(json.loads((ROOT / ".venv" / "setup-state.json").read_text())["identity"])


def remove_stale_packages() -> None:
    """Remove the built files of removed packages: their plug-ins would still be found."""
    names = packages()
    for marker in ROOT.glob("install/*/share/colcon-core/packages/*"):
        if marker.name not in names:
            for base in ("build", "install"):
                shutil.rmtree(ROOT / base / marker.name, ignore_errors=True)


def wanted_stamp() -> dict[str, Any]:
    """Return the stamp of a finished build of the present sources."""
    return {"environment": environment(), "packages": fingerprints()}


def saved_stamp() -> dict[str, Any]:
    """Return the stamp of the last build, if there was one; "packages" has the successful ones."""
    try:
        return dict(json.loads(STAMP.read_text()))
    except (FileNotFoundError, json.JSONDecodeError):
        return {}


def build(names: Collection[str] = ()) -> int:
    """Run colcon and stamp the successful packages; return colcon's exit code.

    `names`: packages to build; all without any.
    """
    wanted = wanted_stamp()
    if saved_stamp().get("environment", wanted["environment"]) != wanted["environment"]:
        print("build: the last build was for another ROS 2, Python or folder", flush=True)
        shutil.rmtree(ROOT / "build", ignore_errors=True)
        shutil.rmtree(ROOT / "install", ignore_errors=True)
    remove_stale_packages()
    chosen = with_missing(names, packages()) if names else wanted["packages"].keys()
    left = wanted["packages"].keys() - chosen
    others = {k: v for k, v in saved_stamp().get("packages", {}).items() if k in left}
    STAMP.parent.mkdir(exist_ok=True)
    STAMP.write_text(json.dumps(wanted | {"packages": others}))
    # The user's defaults for colcon (for example a merged install folder) do not apply here.
    # Unbuffered, each line of colcon is there when it is true, in a pipe and in a file, too: which
    # package is begun, and how many seconds it took. The interfaces take a minute.
    variables = os.environ | {"COLCON_DEFAULTS_FILE": os.devnull, "PYTHONUNBUFFERED": "1"}
    command = [*COMMAND]
    if paths := [str(folder.relative_to(ROOT)) for folder in imported_packages()]:
        command += ["--paths", *paths]
    if names:
        command += ["--packages-select", *sorted(chosen)]
    code = subprocess.run(command, cwd=ROOT, env=variables, check=False).returncode
    if code == 0:
        built = {name: wanted["packages"][name] for name in chosen}
        STAMP.write_text(json.dumps(wanted | {"packages": others | built}))
    else:
        message = "build: error: colcon failed as shown above (its logs: log/latest_build/)"
        print(message, file=sys.stderr)
    return code


def finish() -> None:
    """Link and compile the modules, so that the first start is as quick as all others.

    This also applies where Python is configured to write no byte code, as often in containers.
    """
    module_links.link_modules(ROOT)
    command = [sys.executable, "-m", "compileall", "-qq", "-x", "/(test|external)/", str(SOURCES)]
    subprocess.run(command, check=False)  # a bad module raises when it is imported


def unknown(names: Sequence[str]) -> str:
    """Return the error in names of packages; empty: none."""
    known = packages()
    if wrong := [name for name in names if name not in known]:
        return f"no package {', '.join(wrong)}; there are {', '.join(sorted(known))}"
    return ""


def main(names: Sequence[str] = ()) -> int:
    """Build changed packages, one run at a time; `names`: only these, changed or not."""
    if broken := external.empty(ROOT):
        names = ", ".join(str(folder.relative_to(ROOT)) for folder in broken)
        print(
            f"build: error: nothing is in {names}: an import has failed. Run `vcs import "
            "src/external < bar.repos` again, or remove what is there: `rm -rf src/external/*/`",
            file=sys.stderr,
        )
        return 1
    if problem := unknown(names):
        print(f"build: error: {problem}", file=sys.stderr)
        return 1
    if not names and saved_stamp() == wanted_stamp():
        finish()
        return 0
    lock = os.open(SOURCES, os.O_RDONLY)  # a folder can be locked too, and leaves no file behind
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code = 0 if not names and saved_stamp() == wanted_stamp() else build(names)
    finally:
        os.close(lock)
    finish()
    return code


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
