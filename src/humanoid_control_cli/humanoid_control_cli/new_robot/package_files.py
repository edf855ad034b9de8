"""The files of a new robot's package: its description, and a bring-up of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final
from xml.sax.saxutils import quoteattr

from humanoid_bringup.robot_package import installed_robots
from humanoid_control_cli.new_robot.exported import Export, read_export
from humanoid_control_cli.package_name import EXPECTED, PACKAGE_NAME
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.whole_file import make_folder

_ENDING: Final = "_bringup"
# Files of the template and their places in the package; MINE is replaced by the robot's name.
_PLACES: Final = {
    "package.xml": "package.xml",
    "setup.py": "setup.py",
    "setup.cfg": "setup.cfg",
    "README.md": "README.md",
    "robot.yaml": "config/robot.yaml",
    "controllers.yaml": "config/MINE_controllers.yaml",
    "urdf.xacro": "description/MINE.urdf.xacro",
    "mujoco.launch.py": "launch/mujoco.launch.py",
    "mock.launch.py": "launch/mock.launch.py",
    "view.launch.py": "launch/view.launch.py",
}
_WORD: Final = re.compile("MINE(_[A-Z]+)?")  # of the template
# Per Nm of a joint's effort limit, until the user replaces them by figures of the drive.
_STIFFNESS: Final = 10.0  # [Nm/rad], largest: that of Prime's eRobs
_ROTOR_INERTIA: Final = 0.04 / 30.0  # [kg m²], behind the gear: that of Prime's eRobs
_DAMPING: Final = 0.65  # [Nm s/rad], largest: half of what such a rotor bears at steps of 1 ms
# All joints have the gains of a mode, so the weakest decides.
_MODE_DAMPING: Final = 0.6  # [Nm s/rad] per Nm: an arm of Prime's weight sinks slowly
_MARGIN: Final = 0.05  # [rad] of a pose to the limits


@dataclass(frozen=True, slots=True)
class NewPackage:
    """A package to be written."""

    name: str
    contents: Mapping[Path, bytes]  # by path, relative to the package
    joints: tuple[str, ...]
    warnings: tuple[str, ...]  # about the description

    def write(self, into: Path) -> None:
        """Write the files into a new folder in `into`. Raises ConfigError."""
        make_folder(into / self.name, self.contents)


def package_files(name: str, description: Path) -> NewPackage:
    """Return the package of the robot `name` that the file `description` describes.

    Raises ConfigError for a name that is no package's or taken, and for a description that can't be
    brought up, naming link, joint or file.
    """
    if not PACKAGE_NAME.fullmatch(name):
        raise ConfigError(f"'{name}': {EXPECTED}")
    if name in installed_robots():
        raise ConfigError(f"there is a robot '{name}' already: choose another name")
    package = name + _ENDING
    export = read_export(description, name, f"package://{package}/description/meshes")
    template = files(__package__) / "template"
    words = _words(name, export)

    def filled(text: str) -> str:  # in one pass: a joint may have the name of a word
        return _WORD.sub(lambda found: words[found[0]], text)

    contents = {
        Path(filled(place)): filled((template / f"{source}.template").read_text("utf-8")).encode()
        for source, place in _PLACES.items()
    }
    for mesh, content in export.meshes.items():
        contents[Path("description/meshes", mesh)] = content
    contents[Path("description", f"{name}.urdf")] = export.urdf
    contents[Path("resource", package)] = b""
    contents[Path("resource/robots", name)] = f"{package}\n".encode()
    return NewPackage(package, contents, export.joints, export.warnings)


def _words(name: str, export: Export) -> dict[str, str]:
    """Return the replacements for the words of the template."""
    limits = export.limits
    calls, poses = [], []
    for i, joint in enumerate(export.joints):
        effort = limits.effort[i]
        calls.append(
            f'    <xacro:joint name={quoteattr(joint)} stiffness="{_STIFFNESS * effort:.3g}" '
            f'damping="{_DAMPING * effort:.3g}" rotor_inertia="{_ROTOR_INERTIA * effort:.3g}"/>'
        )
        poses.append(str(round(_pose(limits.lower[i], limits.upper[i]), 4)))  # with a point
    weakest = limits.effort.min()
    return {
        "MINE_STIFFNESS": f"{_STIFFNESS * weakest:#.3g}",
        "MINE_DAMPING": f"{_MODE_DAMPING * weakest:#.3g}",
        "MINE_JOINTS": "\n".join(calls),
        "MINE_POSE": ", ".join(poses),
        "MINE_TITLE": name.replace("_", " ").capitalize(),
        "MINE": name,
    }


def _pose(lower: float, upper: float) -> float:
    """Return the angle [rad] nearest to 0 that keeps clear of the limits."""
    margin = min(_MARGIN, (upper - lower) / 2)
    return min(max(0.0, lower + margin), upper - margin)
