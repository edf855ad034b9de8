"""Unix sockets whatever the length of their path."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def address_of(path: Path) -> Iterator[str]:
    """What to bind or connect to for a socket at `path`, whose own length Linux limits to 107.

    Raises OSError if there is no such folder.
    """
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
