"""Unix sockets with paths of any length."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def address_of(path: Path) -> Iterator[str]:
    """Yield a short address of the socket at `path`: Linux limits addresses to 107 bytes.

    Raises OSError if there is no such folder.
    """
    folder = os.open(path.parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
