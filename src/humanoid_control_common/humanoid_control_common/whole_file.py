"""Write files and folders whole or not at all: a full disk leaves nothing that is half written."""

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from humanoid_control_common.errors import ConfigError


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
