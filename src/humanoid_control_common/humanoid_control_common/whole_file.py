"""Read and write files and folders whole or not at all.

What others wrote is read within a bound, and a full disk leaves nothing that is half written.
"""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from humanoid_control_common.errors import ConfigError


def read_bytes(path: Path, largest: int) -> bytes:
    """Return the content of a regular file of at most `largest` bytes.

    A device may have no end, and a pipe may wait for ever. Raises ConfigError.
    """
    try:
        if not (S_ISREG(mode := path.stat().st_mode) or S_ISDIR(mode)):
            raise ConfigError(f"{path}: no regular file")
        with path.open("rb") as file:
            content = file.read(largest + 1)
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    if len(content) > largest:
        raise ConfigError(f"{path}: larger than {largest / 1e6:g} MB")
    return content


def replace_text(path: Path, text: str) -> None:
    """Replace the content of `path` by `text`, or make it. Raises OSError; it is as before then.

    Of a symbolic link the target is replaced. The rights stay.
    """
    target = path.resolve()
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, name)
        else:
            Path(name).chmod(0o644)
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)  # the new name survives a power failure, too
    finally:
        os.close(folder)


def make_folder(folder: Path, contents: Mapping[Path, bytes]) -> None:
    """Make `folder` with files of these contents by path in it. Raises ConfigError if that fails.

    There is no such folder then.
    """
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        try:
            for path, content in contents.items():
                (unfinished / path).parent.mkdir(parents=True, exist_ok=True)
                (unfinished / path).write_bytes(content)
            unfinished.chmod(0o755)
            unfinished.rename(folder)
        except BaseException:
            shutil.rmtree(unfinished)
            raise
    except OSError as error:
        raise ConfigError(f"{folder}: cannot be made: {error.strerror}") from error
