"""Expansion of a robot's xacro file in this process."""

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree
from xml.parsers.expat import ExpatError

import xacro
from ament_index_python.packages import PackageNotFoundError, get_package_share_directory
from xacro import substitution_args

from humanoid_control_common.configuration.config import check_yaml
from humanoid_control_common.description.mesh_references import package_above
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.whole_file import read_bytes

LARGEST: Final = 16 << 20  # [bytes] of a file; Prime's has a hundredth of it
DEEPEST: Final = 200  # levels of elements; those of Prime are 7 deep
_CHECK: Final = "evaluating expression 'xacro.fatal("
_XACRO: Final = "http://www.ros.org/wiki/xacro"
XACRO_ARGUMENT: Final = f"{{{_XACRO}}}arg"


def expand(xacro_file: Path, mappings: Mapping[str, str]) -> str:
    """Return the URDF as XML text; a plain one as it is: a plug-in may have `${…}` of its own.

    `mappings` are the arguments that the file declares, all as text, booleans too. Not
    thread-safe: xacro keeps global state.

    Raises ConfigError for an argument that is unknown, missing or has a bad value, for a package
    that is not there, for elements that are nested too deep, and for a hardware file that is
    missing, malformed, has a key twice or contradicts itself.
    """
    try:
        _check_names(mappings, xacro_file)
        plain = read_bytes(xacro_file, LARGEST).decode("utf-8-sig")
        if xacro_file.suffix != ".xacro" and _XACRO not in plain:
            return plain
        with _own_xacro(xacro_file):
            xacro.all_includes.clear()  # the files that it reads
            document = xacro.process_file(str(xacro_file), mappings=dict(mappings))
            for file in filter(_is_yaml, map(Path, xacro.all_includes)):
                check_yaml(file)  # of a key that is given twice, xacro takes the last one
        return str(document.toprettyxml(indent="  "))
    except xacro.XacroException as error:
        raise ConfigError(_refusal(error) or f"{xacro_file}: {_reason(error)}") from error
    except RecursionError as error:
        raise ConfigError(f"{xacro_file}: elements or macros are nested too deep") from error
    except (ExpatError, OSError, RuntimeError) as error:  # RuntimeError: of xacro's own tags
        raise ConfigError(f"{xacro_file}: {error}") from error


def _refusal(error: xacro.XacroException) -> str:
    """Return the text of a check of the xacro files, without xacro's context; empty: another error.

    The text has the place that is wrong, which is mostly in the hardware file.
    """
    checked = False
    while isinstance(error.exc, xacro.XacroException):
        checked = _CHECK in str(error.suffix)
        error = error.exc
    return str(error) if checked else ""


def _reason(error: xacro.XacroException) -> str:
    """Return xacro's message, with a remedy if it is known."""
    cause: BaseException | None = error
    while isinstance(cause, xacro.XacroException):
        cause = cause.exc
    if isinstance(cause, ConfigError):  # of `_own_xacro`
        return str(cause)
    if isinstance(cause, substitution_args.ArgException):
        return f"{error}: expand it first: `xacro FILE {cause}:=VALUE > FILE.urdf`"
    return str(error)


def _is_yaml(path: Path) -> bool:
    return path.suffix in (".yaml", ".yml")


_compiled: Final = lru_cache(maxsize=4096)(compile)


@contextmanager
def _own_xacro(source: Path) -> Iterator[None]:
    """Let xacro be quicker by a third while the context is open, and find the package of `source`.

    xacro compiles each expression anew at every use, and cuts texts into parts that have no
    expression.
    """
    evaluate, arguments = xacro.eval_text, vars(substitution_args)
    find_installed = arguments["_eval_find"]

    def eval_text(text: str, symbols: Any) -> Any:
        return evaluate(text, symbols) if "$" in text else text

    def find(package: str) -> str:
        try:
            return str(share_folder(package))
        except ConfigError:
            if (folder := package_above(package, source)) is None:
                raise
            return str(folder)

    xacro.compile, xacro.eval_text, arguments["_eval_find"] = _compiled, eval_text, find
    try:
        yield
    finally:
        xacro.eval_text, arguments["_eval_find"] = evaluate, find_installed
        del xacro.compile


def share_folder(package: str) -> Path:
    """Return the share folder of a ROS package. Raises ConfigError if it is not installed."""
    try:
        return Path(get_package_share_directory(package))
    except PackageNotFoundError as error:
        raise ConfigError(
            f"package {package} is not installed: build the workspace and source its setup file"
        ) from error


def declared_arguments(path: Path) -> set[str]:
    """Return the names of the arguments that a xacro file declares; a plain URDF has none.

    Raises ConfigError for a file that is not XML in UTF-8, or is nested too deep.
    """
    try:
        content = read_bytes(path, LARGEST)
        content.decode()
        names, depth = set(), 0
        for event, element in ElementTree.iterparse(io.BytesIO(content), ("start", "end")):
            depth += 1 if event == "start" else -1
            if depth > DEEPEST:
                raise ConfigError(f"{path}: elements are nested too deep: {DEEPEST} levels at most")
            if element.tag == XACRO_ARGUMENT:
                names.add(element.get("name", ""))
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path}: byte {error.start} is not UTF-8: save the file as UTF-8, and remove another "
            "encoding from its first line"
        ) from error
    except ElementTree.ParseError as error:
        raise ConfigError(
            f"{path}: it is not valid XML ({error}): correct that place, or export it again"
        ) from error
    return names


def _check_names(mappings: Mapping[str, str], path: Path) -> None:
    """Raise ConfigError for an argument that is not declared: xacro itself ignores it."""
    known = declared_arguments(path)
    if unknown := sorted(mappings.keys() - known):
        raise ConfigError(f"{path}: unknown arguments {unknown}; known are {sorted(known)}")
