"""YAML files into typed values, with errors that name file, line and key."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from humanoid_control_common.errors import ConfigError

KeyPath = tuple[str | int, ...]

# The C parser takes a millisecond for a robot description, the other one a hundred.
_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

DEEPEST = 32  # levels; deeper nesting is an alias that contains itself


class StrictModel(BaseModel):
    """Base of configuration models: unknown keys, wrong types and infinite numbers are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Document:
    """Parsed configuration and the place of each key."""

    name: str  # the file's path; stands for the place of a key without one
    content: Any
    places: Mapping[KeyPath, str] = field(default_factory=dict)  # "file:line"

    def where(self, key: KeyPath) -> str:
        """Return `file:line` of `key`, or of the nearest parent that has a place."""
        for depth in range(len(key), -1, -1):
            if key[:depth] in self.places:
                return self.places[key[:depth]]
        return self.name


def _place(path: Path, node: yaml.Node) -> str:
    return f"{path}:{node.start_mark.line + 1}"


def _index_places(node: yaml.Node, key: KeyPath, places: dict[KeyPath, str], path: Path) -> None:
    if len(key) > DEEPEST:
        raise ConfigError(f"{_place(path, node)}: nested more than {DEEPEST} levels deep")
    places.setdefault(key, _place(path, node))
    if isinstance(node, yaml.MappingNode):
        for key_node, value_node in node.value:
            name = (*key, str(key_node.value))
            if name in places:
                raise ConfigError(f"{_place(path, key_node)}: key '{key_node.value}' given twice")
            places[name] = _place(path, key_node)
            _index_places(value_node, name, places, path)
    elif isinstance(node, yaml.SequenceNode):
        for i, item in enumerate(node.value):
            _index_places(item, (*key, i), places, path)


def read_text(path: Path) -> str:
    """Return the text of a file. Raises ConfigError if it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error


def read_yaml(path: Path) -> Document:
    """Parse a YAML file without validating its content.

    Raises ConfigError if it cannot be read, is not YAML or contains a key twice.
    """
    text = read_text(path)
    places: dict[KeyPath, str] = {}
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        if root is not None:
            _index_places(root, (), places, path)
        content = None if root is None else loader.construct_document(root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise ConfigError(f"{path}{line}: not valid YAML: {error.problem}") from error
    except (yaml.YAMLError, ValueError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from error
    finally:
        loader.dispose()
    return Document(str(path), content, places)


def validate(model: type[Model], document: Document) -> Model:
    """Return the document's content as an instance of `model`.

    Raises ConfigError with one line per problem: file, line, key, cause, value.
    """
    try:
        return model.model_validate(document.content)
    except ValidationError as error:
        problems = [_describe(problem, document) for problem in error.errors()]
        raise ConfigError("\n".join(problems)) from None


def _describe(problem: Mapping[str, Any], document: Document) -> str:
    location: KeyPath = tuple(problem["loc"])
    name = ".".join(str(part) for part in location) or "(top level)"
    if problem["type"] == "extra_forbidden":
        return f"{document.where(location)}: unknown key '{name}'"
    if problem["type"] == "missing":
        return f"{document.where(location)}: '{name}' is missing"
    cause = str(problem["msg"]).removeprefix("Value error, ")
    return f"{document.where(location)}: '{name}': {cause} (found {problem['input']!r})"


def load_yaml(path: Path, model: type[Model]) -> Model:
    """Return a YAML file as a `model`. Raises ConfigError, see `read_yaml` and `validate`."""
    return validate(model, read_yaml(path))
