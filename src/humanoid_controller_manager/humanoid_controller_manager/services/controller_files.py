"""Load a controller from a parameters file into a running robot, and unload it. No ROS.

Such a controller has priority over the others of its mode: it replaces those that claim its joints.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from humanoid_control_common.configuration.config import Document, KeyPath
from humanoid_control_common.configuration.parameter_files import (
    is_of_every_node,
    parameter_files,
    parameters_of,
    sections,
)
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.robot_namespace import ROOT
from humanoid_controller_manager.plugins import (
    CONTROLLERS,
    forget_plugins,
    known_plugins,
    search_too,
)
from humanoid_controller_manager.ros.parameters import ControllerEntry, parse
from humanoid_controller_manager.switching.lifecycle import Change, Lifecycle

MANAGER: Final = "controller_manager"
OF_THE_ENTRY: Final = ("type", "fallback_controllers")


@dataclass(frozen=True, slots=True)
class ControllerFiles:
    """Called by one thread, which may wait."""

    lifecycle: Lifecycle
    namespace: str = ROOT  # of the robot

    def load(self, file: str, folders: Sequence[str] = ()) -> tuple[str, Change]:
        """Load and configure the controller of `file`; return its name and what changed.

        One of the same name is replaced. Without a slash `file` is the name of a loaded controller,
        which is put before the others of its mode. An unknown plug-in is searched in `folders`,
        too. Raises ConfigError and ControllerError; nothing is changed then.
        """
        if "/" not in file:
            return file, self.lifecycle.prefer(file)
        name, entry = controller_of(Path(file), self.namespace)
        forget_plugins()  # it may have been installed since the start
        if entry.type not in known_plugins(CONTROLLERS):
            search_too(folders)
        return name, self.lifecycle.load_first(name, entry)

    def unload(self, name: str) -> Change:
        """Unload controller `name`; return what changed in its mode. Raises ControllerError."""
        return self.lifecycle.take_out(name)


def controller_of(file: Path, namespace: str = ROOT) -> tuple[str, ControllerEntry]:
    """Return name and entry of the one controller in `file`, an ordinary ROS parameters file.

    `type` and `fallback_controllers` are in the manager's section, as in the robot's controllers,
    or in the controller's own, as the spawner has them. `namespace` is the robot's.

    Raises ConfigError naming the place for a file with another content.
    """
    if not file.is_absolute():
        raise ConfigError(f"{file}: expected an absolute path")
    (document,) = parameter_files(["--params-file", str(file)])
    entries = _entries(document, namespace)
    if len(entries) != 1:
        found = ", ".join(sorted(entries)) or "none"
        raise ConfigError(f"{file}: expected the parameters of one controller, found: {found}")
    ((name, raw),) = entries.items()
    content = {str(key[-1]): value for key, value in raw.items()}
    places: dict[KeyPath, str] = {key[-1:]: document.where(key) for key in raw}
    if "type" not in content:
        raise ConfigError(f"{file}: '{name}' has no type: name its plugin")
    content["params_file"] = [str(file)]
    return name, parse(ControllerEntry, name, Document(str(file), content, places))


def _entries(document: Document, namespace: str) -> dict[str, dict[KeyPath, Any]]:
    """Return what `document` has for the manager of each controller: values by their places."""
    entries: dict[str, dict[KeyPath, Any]] = {}
    for section in sections(document, namespace):
        given = parameters_of(document, section)
        parameters = {name: value for name, value in given.items() if not is_of_every_node(name)}
        node = section.pattern.removeprefix(f"{namespace}/")
        if node == MANAGER:
            for key, value in parameters.items():
                place = (*section.key, key)
                if not isinstance(value, Mapping):
                    where = f"{document.where(place)}: '{key}'"
                    raise ConfigError(f"{where} is the robot's, not a controller's: remove it")
                entries.setdefault(key, {}).update({(*place, k): v for k, v in value.items()})
        elif "*" in node and not parameters:
            continue  # ROS' own, for every node
        elif "/" in node or "*" in node:
            found = f"{section.place}: '{section.pattern}'"
            raise ConfigError(f"{found} is no controller of the robot '{namespace or '/'}'")
        else:
            own = {(*section.key, k): parameters[k] for k in OF_THE_ENTRY if k in parameters}
            entries.setdefault(node, {}).update(own)
    return entries


def sentence(change: Change) -> str:
    """Return a change in words, for the operator."""
    mode = change.mode.name
    if not change.after:
        return f"no controller of {mode} is left"
    text = f"{mode} is {', '.join(change.after)}"
    replaced = [name for name in change.before if name not in change.after]
    return f"{text}, in place of {', '.join(replaced)}" if replaced else text
