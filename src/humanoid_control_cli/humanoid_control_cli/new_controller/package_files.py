"""The files of a new package with a working controller, to be changed."""

from collections.abc import Mapping
from importlib.resources import files
from keyword import iskeyword
from pathlib import Path
from typing import Final

import yaml

from humanoid_control_cli.package_name import EXPECTED, PACKAGE_NAME
from humanoid_control_common.errors import ConfigError

# Files of the template and their places in the package; `hold` is replaced by the name.
_PLACES: Final = {
    "hold.py": "hold_controller/hold.py",
    "init.py": "hold_controller/__init__.py",
    "test_hold.py": "test/test_hold.py",
    "hold_controller.yaml": "config/hold_controller.yaml",
    "README.md": "README.md",
    "setup.py": "setup.py",
    "setup.cfg": "setup.cfg",
    "package.xml": "package.xml",
}
_ENDING: Final = "_controller"
_MANAGER: Final = "controller_manager"
_PARAMETERS: Final = "ros__parameters"
_REPLACED: Final = "standby_controller"  # in the robot's controllers


def package_files(name: str, controllers: Mapping[str, object]) -> dict[Path, str]:
    """Return the contents by path, relative to the package `name`.

    `controllers` are those of the robot (its parameters file): the package has a copy in which the
    new controller replaces that of STANDBY.

    Raises ConfigError for a name that is no ROS package or does not end in `_controller`, and for
    the name of another controller of the robot.
    """
    if not PACKAGE_NAME.fullmatch(name) or not name.endswith(_ENDING) or name == _ENDING[1:]:
        raise ConfigError(
            f"'{name}': {EXPECTED}, and '{_ENDING}' at the end, as in sway_controller"
        )
    stem = name.removesuffix(_ENDING)
    if iskeyword(stem):
        raise ConfigError(f"'{name}': a module of Python cannot be called '{stem}'")
    title = "".join(word.capitalize() for word in stem.split("_"))

    def renamed(text: str) -> str:
        text = text.replace("hold_controller", name).replace("HoldController", f"{title}Controller")
        text = text.replace("HoldParameters", f"{title}Parameters")
        for end in (".py", ":", " import"):
            text = text.replace(f"hold{end}", f"{stem}{end}")
        return text

    template = files(__package__) / "template"
    found = {
        Path(renamed(place)): renamed((template / f"{source}.template").read_text("utf-8"))
        for source, place in _PLACES.items()
    }
    found[Path("resource", name)] = ""
    own = yaml.safe_load(found[Path("config", f"{name}.yaml")])
    found[Path("config/controllers.yaml")] = (
        f"# The robot's controllers, with {name} for STANDBY: hc up mock --controllers FILE\n"
        + yaml.safe_dump(_with(name, own, controllers), sort_keys=False, default_flow_style=None)
    )
    return found


def _with(
    name: str, own: Mapping[str, object], controllers: Mapping[str, object]
) -> dict[str, object]:
    """Return `controllers` with the section `own` of the controller `name` in STANDBY's place."""
    section = dict(own[name][_PARAMETERS])  # type: ignore[index]
    entry = {key: section.pop(key) for key in ("type", "fallback_controllers")}
    manager = dict(controllers[_MANAGER][_PARAMETERS])  # type: ignore[index]
    if _REPLACED not in manager:
        raise ConfigError(f"the robot's controllers have no {_REPLACED} to replace")
    if name in manager and name != _REPLACED:
        raise ConfigError(f"'{name}' is one of the robot's controllers: choose another name")
    manager = {(name if it == _REPLACED else it): value for it, value in manager.items()}
    manager[name] = entry
    others = {it: value for it, value in controllers.items() if it not in (_MANAGER, _REPLACED)}
    return {
        _MANAGER: {_PARAMETERS: manager},
        **others,
        name: {_PARAMETERS: section},
    }
