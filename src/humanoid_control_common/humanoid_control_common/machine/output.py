"""Output that makes its process wait for no reader, and gives a terminal no orders."""

import fcntl
import os
import stat
from contextlib import suppress
from typing import Final

ROOM: Final = 1 << 20  # [bytes] in a pipe; Linux grants it to any user by default


def never_wait_for_readers() -> None:
    """Drop what the readers of stdout and stderr do not take in time.

    A write to a full pipe waits, and the ROS log holds the interpreter meanwhile:
    with a program that was stopped, or a terminal after Ctrl-S, the control loop stood still for
    good once 64 KiB were logged (measured). The descriptors are opened anew: others that share
    them, such as a shell, are not affected. A socket stays as it is.
    """
    for descriptor in (1, 2):
        with suppress(OSError):
            is_pipe = stat.S_ISFIFO(os.fstat(descriptor).st_mode)
            if is_pipe or os.isatty(descriptor):
                flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY
                own = os.open(f"/proc/self/fd/{descriptor}", flags)
                os.dup2(own, descriptor)
                os.close(own)
            if is_pipe:
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, ROOM)


def printable(text: str, but: str = "\n\t") -> str:
    """Return `text` with escapes for what is not printable, except the characters in `but`.

    Names and texts come from other programs and from files: their control characters would clear a
    terminal, or write a line that looks like one of ours.
    """
    if text.isprintable():
        return text
    return "".join(it if it.isprintable() or it in but else ascii(it)[1:-1] for it in text)
