"""One folder of links to all Python packages of the workspace.

Python looks a module up in every folder of its path in turn. colcon puts two folders for each
package there, which took a fifth of the processor time in which `hc` starts. env.sh puts the folder
of links in their place.
"""

from __future__ import annotations

from pathlib import Path

LINKS = "python"  # below install/
REPLACED = "python_folders.txt"  # the folders that the links replace, one a line
_METADATA = (".egg-info", ".dist-info")


def link_modules(root: Path) -> None:
    """Link the Python packages of the packages that are built in the workspace `root`.

    A folder with a package that another folder has, too, stays on the path instead.
    """
    links = root / "install" / LINKS
    links.mkdir(parents=True, exist_ok=True)
    wanted: dict[str, Path] = {}
    replaced = []
    developed, installed = root.glob("build/*"), root.glob("install/*/lib/python*/site-packages")
    for folder in sorted([*developed, *installed]):
        modules = {path.name: path for path in folder.iterdir()} if folder.is_dir() else {}
        modules = {name: path for name, path in modules.items() if _is_importable(path)}
        if not modules.keys() & wanted.keys():
            wanted |= modules
            replaced.append(f"{folder}\n")
    for link in links.iterdir():
        if link.name not in wanted or link.readlink() != wanted[link.name]:
            link.unlink()
    for name, path in wanted.items():
        if not (links / name).is_symlink():
            (links / name).symlink_to(path)
    (root / "install" / REPLACED).write_text("".join(replaced), encoding="utf-8")


def _is_importable(path: Path) -> bool:
    return path.suffix in _METADATA or (path / "__init__.py").is_file()
