"""The parameter files of a ROS command line: which section is for which node.

The rules are rcl's: a section is for the node of that absolute name, `/left/viewer`; `*` matches
one word of the name and `**` any number of words. With one difference: for rcl, a name without a
slash is a node in the root. Here it is the node of that name in the namespace of its process, so
that one file serves robots in any namespace.
"""

import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import yaml

from humanoid_control_common.configuration.config import (
    Document,
    KeyPath,
    YamlLoader,
    read_text,
    read_yaml,
)
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.robot_namespace import ROOT, absolute, namespace_of

SECTION: Final = "ros__parameters"
# Ending of the files that a bring-up writes at each start: to change one has no effect.
OF_BRING_UP: Final = ".bring_up.yaml"
# Parameters that ROS declares and handles in every node.
_OF_EVERY_NODE: Final = ("use_sim_time", "qos_overrides", "start_type_description_service")
_FLAG: Final = "--params-file"


@dataclass(frozen=True, slots=True)
class Section:
    """The parameters of one node, or of several, in a file."""

    pattern: str  # absolute name of the node; * and ** are wildcards
    key: KeyPath  # of its parameters
    place: str  # "file:line"

    def is_for(self, node: str) -> bool:
        """Return whether it gives parameters to the node of this absolute name."""
        words = re.escape(self.pattern).replace(r"/\*\*", r"(/\w+)*").replace(r"/\*", r"/\w+")
        return re.fullmatch(words, node) is not None


def parameter_files(arguments: Sequence[str]) -> list[Document]:
    """Return the parsed `--params-file` documents of a ROS command line.

    Raises ConfigError that names file and line, which rcl does not.
    """
    files = [read_yaml(Path(value)) for flag, value in pairwise(arguments) if flag == _FLAG]
    for file in files:
        refuse_lists_without_type(file)
    return files


def refuse_lists_without_type(file: Document) -> None:
    """Raise ConfigError for a list that rcl has no type for: no node with `file` would start."""
    for section in sections(file):
        _refuse_lists(file, section.key, section.key, parameters_of(file, section))


def is_of_every_node(parameter: str) -> bool:
    """Return whether ROS gives every node the parameter of this name, which may be dotted."""
    return parameter.partition(".")[0] in _OF_EVERY_NODE


def parameters_of(file: Document, section: Section) -> Mapping[str, Any]:
    """Return the parameters of a section of `file`."""
    found = file.content
    for word in section.key:
        found = next(value for name, value in found.items() if str(name) == word)
    parameters: Mapping[str, Any] = found
    return parameters


def _refuse_lists(file: Document, section: KeyPath, key: KeyPath, value: object) -> None:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            _refuse_lists(file, section, (*key, str(name)), inner)
    elif isinstance(value, list) and (found := _without_type(value)):
        name = ".".join(map(str, key[len(section) :]))
        raise ConfigError(f"{file.where(key)}: '{name}' of {_name(section[:-1])} {found}")


def _without_type(values: list[Any]) -> str:
    """Return why rcl has no type for a list, and the remedy; empty if it has."""
    if not values:
        return "is empty, which a ROS parameter can't be: leave the key out"
    if {type(value) for value in values} == {int, float}:
        whole = next(value for value in values if type(value) is int)
        return (
            "has whole numbers and numbers with a point, which a ROS parameter can't have: write "
            f"{whole:.1f} instead of {whole}"
        )
    return ""


def sections(file: Document, namespace: str = ROOT) -> list[Section]:
    """Return the sections of `file` for a process in `namespace`, in the order of the file.

    Raises ConfigError unless every node of the file has its ros__parameters.
    """
    if not isinstance(file.content, Mapping):
        raise ConfigError(f"{file.name}: expected a mapping of node names to {SECTION}")
    return list(_sections(file, file.content, (), namespace))


def _sections(
    file: Document, content: Mapping[Any, Any], key: KeyPath, namespace: str
) -> Iterator[Section]:
    for name, value in content.items():
        path = (*key, str(name))
        if name == SECTION and key and isinstance(value, Mapping):
            yield Section(_pattern(key, namespace), path, file.where(key))
        elif name != SECTION and isinstance(value, Mapping) and value:
            yield from _sections(file, value, path, namespace)
        else:
            node = key or path
            raise ConfigError(f"{file.where(node)}: '{_name(node)}' has no {SECTION} mapping")


def _name(path: KeyPath) -> str:
    return "/".join(map(str, path))


def _pattern(path: KeyPath, namespace: str) -> str:
    name = _name(path)
    if _is_bare(name):
        return absolute(namespace, name)
    return f"/{name.lstrip('/')}"


def _is_bare(name: str) -> bool:
    return "/" not in name and "*" not in name


def unused(
    files: Iterable[Document], nodes: Iterable[str], namespace: str = ROOT
) -> list[tuple[Document, list[Section]]]:
    """Return each file with its sections that are for none of `nodes`, given by absolute names."""
    known = list(nodes)
    found = []
    for file in files:
        left = [s for s in sections(file, namespace) if not any(map(s.is_for, known))]
        if left:
            found.append((file, left))
    return found


@contextmanager
def for_rcl(arguments: Sequence[str], namespace: str | None = None) -> Iterator[list[str]]:
    """Yield `arguments` in the form for rcl, valid while the context is open.

    In a namespace, files with names without a slash are replaced by copies with absolute names.

    Args:
        arguments: a ROS command line, or its part for one node.
        namespace: of the process; None: as `arguments` say.
    """
    own = namespace_of(arguments) if namespace is None else namespace
    words = list(arguments)
    if not own:
        yield words
        return
    with tempfile.TemporaryDirectory(prefix="humanoid_control_") as folder:
        for i, flag in enumerate(words[:-1]):
            if flag == _FLAG:
                copy = Path(folder) / f"{i}.yaml"
                text = read_text(Path(words[i + 1]))
                copy.write_text(_with_absolute_names(text, own), encoding="utf-8")
                words[i + 1] = str(copy)
        yield words


def _with_absolute_names(text: str, namespace: str) -> str:
    """Return the text of a parameter file, valid YAML, with absolute names of its nodes."""
    root = yaml.compose(text, Loader=YamlLoader)
    lines = text.split("\n")
    nodes = root.value if isinstance(root, yaml.MappingNode) else ()
    keys = [key for key, value in nodes if _is_bare(key.value) and _has_section(value)]
    for key in reversed(keys):  # from the end, so that the earlier places stay
        start, end = key.start_mark, key.end_mark
        line = lines[start.line]
        name = absolute(namespace, key.value)
        lines[start.line] = f'{line[: start.column]}"{name}"{line[end.column :]}'
    return "\n".join(lines)


def _has_section(node: yaml.Node) -> bool:
    return isinstance(node, yaml.MappingNode) and any(k.value == SECTION for k, _ in node.value)
