"""YAML files into typed values, with errors that name file, line and key."""

import io
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_IMODE
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.whole_file import read_bytes

KeyPath = tuple[str | int, ...]

# The C parser takes a millisecond for a robot description, the other one a hundred.
YamlLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C where libyaml is installed

DEEPEST = 32  # levels
SHALLOW = 5_000  # characters: even with a level each they fit on the stack of the C parser
LARGEST = 4_000_000  # bytes; a motion of 1000 points and 14 joints has 130 000
_KEY_TAGS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge")  # the latter: `<<`
LONGEST_VALUE = 200  # characters of a wrong value that an error shows
MOST_VALUES = 100_000  # such a motion has 17 000
# Numbers of YAML 1.1 that read otherwise: 1:50 is 110, in base 60, and 010 is 8.
_MISREAD = re.compile(r"[-+]?([0-9_]+(:[0-9]+)+(\.[0-9_]*)?|0[0-7_]+)")
_NUMBER_TAGS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_NO_MAPPING = ("model_type", "dict_type")  # pydantic's words for it name the class of the model


logger = logging.getLogger(__name__)


class StrictModel(BaseModel):
    """Base of configuration models: unknown keys, wrong types and infinite numbers are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Document:
    """Parsed configuration and the place of each key."""

    name: str  # the file's path; the place of a key that has none of its own
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


@dataclass(slots=True)
class _Index:
    """The places of the keys of one file, made before their values.

    Each alias counts with all its values: a few aliases of aliases have more values than any
    memory holds.
    """

    path: Path
    places: dict[KeyPath, str] = field(default_factory=dict)
    _count: int = 0

    def add(self, node: yaml.Node, key: KeyPath, where: str) -> None:
        """Index `node` at `key`; `where`: the place of its key. Raises ConfigError."""
        self._count += 1
        if self._count > MOST_VALUES:
            raise ConfigError(
                f"{where}: more than {MOST_VALUES} values; each alias counts with all its values"
            )
        if len(key) > DEEPEST:
            raise ConfigError(f"{_place(self.path, node)}: nested more than {DEEPEST} levels deep")
        self.places.setdefault(key, _place(self.path, node))
        if isinstance(node, yaml.MappingNode):
            for key_node, value_node in node.value:
                self._add_entry(key_node, value_node, key)
        elif isinstance(node, yaml.SequenceNode):
            for i, item in enumerate(node.value):
                self.add(item, (*key, i), self.places[key])
        elif node.tag in _NUMBER_TAGS and _MISREAD.fullmatch(node.value):
            raise ConfigError(
                f"{where}: YAML takes {node.value} for a number in base 60 or 8: write a decimal "
                "number, without colon and leading zero, or a text in quotes"
            )

    def _add_entry(self, key_node: yaml.Node, value_node: yaml.Node, parent: KeyPath) -> None:
        where = _place(self.path, key_node)
        if not isinstance(key_node, yaml.ScalarNode):
            raise ConfigError(f"{where}: not valid YAML: a list or mapping as a key")
        if key_node.tag not in _KEY_TAGS:
            raise ConfigError(
                f"{where}: key '{key_node.value}' is no text in YAML, but a number, a truth value, "
                "a date or null: write it in quotes"
            )
        name = (*parent, str(key_node.value))
        if name in self.places:
            raise ConfigError(f"{where}: key '{key_node.value}' given twice")
        self.places[name] = where
        self.add(value_node, name, where)


def read_text(path: Path) -> str:
    """Return the text of a file. Raises ConfigError if it is no UTF-8, see also `read_bytes`."""
    try:
        text = read_bytes(path, LARGEST).decode()
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    return io.StringIO(text, newline=None).read()  # each line ends with \n


def read_secret(path: Path) -> str:
    """Return the text of a key or a token, see `read_text`. Log it where other users can read it.

    It is no error: a file that root owns may be readable by the robot's group.
    """
    text, mode = read_text(path), S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        logger.warning("%s: mode %04o, others can use it: `chmod 600 %s`", path, mode, path)
    return text


def _refuse_deep(text: str, path: Path) -> None:
    """Raise ConfigError for more than DEEPEST levels.

    The loader in C composes nested nodes by recursion: too many levels overflow its stack and end
    the process.
    """
    loader, depth = YamlLoader(text), 0
    try:
        while (event := loader.get_event()) is not None:
            if isinstance(event, yaml.CollectionStartEvent):
                depth += 1
            elif isinstance(event, yaml.CollectionEndEvent):
                depth -= 1
            if depth > DEEPEST:
                line = f":{event.start_mark.line + 1}" if event.start_mark else ""
                raise ConfigError(f"{path}{line}: nested more than {DEEPEST} levels deep")
    finally:
        loader.dispose()


def read_yaml(path: Path) -> Document:
    """Parse a YAML file without validating its content.

    Raises ConfigError if it cannot be read, is too large, is not YAML, or contains a key twice.
    """
    return _read(path, lambda loader, root: loader.construct_document(root))


def check_yaml(path: Path) -> None:
    """Raise what `read_yaml` raises, but for values: another reader may know more tags."""
    _read(path, lambda _loader, _root: None)


def _read(path: Path, content_of: Callable[[Any, yaml.Node], Any]) -> Document:
    text = read_text(path)
    index = _Index(path)
    loader = YamlLoader(text)
    try:
        if len(text) > SHALLOW:
            _refuse_deep(text, path)
        root = loader.get_single_node()
        if root is not None:
            index.add(root, (), _place(path, root))
        content = None if root is None else content_of(loader, root)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f":{mark.line + 1}" if mark else ""
        raise ConfigError(f"{path}{line}: not valid YAML: {error.problem}") from error
    except (yaml.YAMLError, ValueError, TypeError, AttributeError) as error:
        raise ConfigError(f"{path}: not valid YAML: {error}") from error
    finally:
        loader.dispose()
    return Document(str(path), content, index.places)


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
    if problem["type"] in _NO_MAPPING:
        cause = "expected a mapping of keys to values"
    found = repr(problem["input"])
    if len(found) > LONGEST_VALUE:
        found = f"{found[:LONGEST_VALUE]}…"
    return f"{document.where(location)}: '{name}': {cause} (found {found})"


def load_yaml(path: Path, model: type[Model]) -> Model:
    """Return a YAML file as a `model`. Raises ConfigError, see `read_yaml` and `validate`."""
    return validate(model, read_yaml(path))
