"""The controllers file of a bring-up: the parameters of its nodes, and those that no node has."""

from collections.abc import Mapping
from typing import Any, Final

from humanoid_control_common.configuration.config import Document, KeyPath
from humanoid_control_common.configuration.parameter_files import (
    is_of_every_node,
    parameters_of,
    sections,
    unused,
)
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.robot_namespace import ROOT, absolute
from humanoid_devices_erob.impedance.names import NODE as IMPEDANCE_MANAGER

_MANAGER: Final = "controller_manager"
# Nodes that a bring-up may have, beside its controllers.
_NODES: Final = (
    _MANAGER,
    "mode_manager",
    IMPEDANCE_MANAGER,
    "black_box",
    "joint_stream",
    "viewer",
    "status_marker",
    "robot_state_publisher",
    "joy_node",
    "truth",
)


def node_section(document: Document, node: str, namespace: str = ROOT) -> Document:
    """Return the parameters of `node` in a parameters file, without those ROS gives every node.

    Raises ConfigError if there are none, with the nodes that the file is for.
    """
    name = absolute(namespace, node)
    found = [section for section in sections(document, namespace) if section.is_for(name)]
    if not any(section.pattern != "/**" for section in found):
        others = ", ".join(section.pattern for section in sections(document, namespace))
        raise ConfigError(
            f"{document.name}: no {node}.ros__parameters for {name}; it has those of {others}"
        )
    content: dict[str, Any] = {}
    places: dict[KeyPath, str] = {}
    for section in found:
        own = parameters_of(document, section).items()
        content |= {name: value for name, value in own if not is_of_every_node(name)}
        depth = len(section.key)
        for key, place in document.places.items():
            if key[:depth] == section.key:
                places[key[depth:]] = place
    return Document(document.name, content, places)


def unused_sections(document: Document, namespace: str = ROOT) -> list[str]:
    """Return a sentence for each section that is for no node of a bring-up.

    Sections for robots in other namespaces are left out, and those of controllers that a spawner
    may load later.
    """
    manager = node_section(document, _MANAGER, namespace).content
    controllers = [name for name, value in manager.items() if isinstance(value, Mapping)]
    nodes = [absolute(namespace, name) for name in (*_NODES, *controllers)]
    return [
        f"{section.place}: no node of this bring-up is called {section.pattern}: its parameters "
        "have no effect"
        for _, left in unused([document], nodes, namespace)
        for section in left
        if section.pattern.rpartition("/")[0] == namespace
        and "type" not in parameters_of(document, section)
    ]
