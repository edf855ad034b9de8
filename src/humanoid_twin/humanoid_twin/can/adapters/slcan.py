"""The bus behind a pty with slcan, for any CAN client of this machine."""

import errno
import fcntl
import os
import select
import termios
import tty
from pathlib import Path
from typing import Final

from humanoid_twin.can.adapters.lawicel import LawicelAdapter
from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.controller import CanController
from humanoid_twin.errors import AdapterError
from humanoid_twin.name_lock import NameInUseError, NameLock, name_of

_PTYS: Final = "/dev/pts/"
_CHUNK: Final = 4096  # [bytes]
_DATA: Final = 0  # TIOCPKT_DATA: what follows was written by the client (linux/tty.h)
_PACKETS_ON: Final = b"\x01\0\0\0"


class SlcanPort:
    """A serial line at `path` with an adapter behind it. Not for several threads at once.

    Args:
        bus: that the adapter is a node of.
        path: of the line.
        gathers: whether lines for the client wait for `hand_over`, which writes them all at once.

    Raises AdapterError without a pty, with another file at `path`, or if a process of the virtual
    robot has its line there.
    """

    def __init__(self, bus: VirtualCanBus, path: Path | str, *, gathers: bool = False) -> None:
        self._path, self._gathers = Path(path), gathers
        try:
            self._lock = NameLock("serial line", name_of(self._path))
        except NameInUseError as error:
            raise AdapterError(
                f"another virtual robot has its serial line at '{path}'; end it, or give another"
                " path"
            ) from error
        self._gathered: list[bytes] = []
        self._adapter = LawicelAdapter(bus, self._write)
        self._epoll = select.epoll()
        self._master = self._slave = -1
        self._unsent = b""  # rest of a line that the pty took in part
        try:
            self.plug_in()
        except AdapterError:
            self._epoll.close()
            self._lock.close()
            raise

    @property
    def controller(self) -> CanController:
        """The adapter's node."""
        return self._adapter.controller

    @property
    def serial(self) -> LawicelAdapter:
        """The adapter itself."""
        return self._adapter

    @property
    def device(self) -> str:
        """The pty that `path` leads to; raises AdapterError while unplugged."""
        if self._slave < 0:
            raise AdapterError(f"the adapter at '{self._path}' is unplugged")
        return os.ttyname(self._slave)

    def fileno(self) -> int:
        """Return a descriptor that is readable when a client has written; plugged in or not."""
        return self._epoll.fileno()

    def serve(self, now: int) -> None:
        """Take the bytes of clients at `now` [ns], to which the bus has been run."""
        while self._master >= 0:
            try:
                received = os.read(self._master, _CHUNK)
            except BlockingIOError:
                return
            if received[0] != _DATA:
                self._flush(received[0])
            elif len(received) > 1:
                self._adapter.feed(received[1:], now)

    def hand_over(self) -> None:
        """Write what was gathered."""
        if self._gathered or self._unsent:
            lines = b"".join(self._gathered)
            self._gathered.clear()
            if not self._send(lines):
                self._adapter.overrun()

    def unplug(self) -> None:
        """Remove the line: clients lose it, `path` is gone."""
        if self._master < 0:
            return
        self.controller.set(powered=False)
        self._adapter.forget_line()
        self._forget_unsent()
        if self._path.is_symlink() and os.readlink(self._path) == os.ttyname(self._slave):
            self._path.unlink()
        self._epoll.unregister(self._master)
        os.close(self._slave)
        os.close(self._master)
        self._master = self._slave = -1

    def plug_in(self) -> None:
        """Make a new line at `path`, with a closed channel."""
        if self._master >= 0:
            return
        if not self._is_free():
            raise AdapterError(f"'{self._path}' exists and is no link to a serial line; remove it")
        try:
            # Kept open at both ends: without a client, the line would count as hung up.
            self._master, self._slave = os.openpty()
            tty.setraw(self._slave)
            os.set_blocking(self._master, False)
            fcntl.ioctl(self._master, termios.TIOCPKT, _PACKETS_ON)
            self._link()
        except OSError as error:
            raise AdapterError(f"no serial line at '{self._path}': {error.strerror}") from error
        self._epoll.register(self._master, select.EPOLLIN)

    def close(self) -> None:
        """Remove the line."""
        self.unplug()
        self._epoll.close()
        self._lock.close()

    def _is_free(self) -> bool:
        """Return whether there is nothing at the path, or the link of a process that was killed."""
        if self._path.is_symlink():
            return os.readlink(self._path).startswith(_PTYS)
        return not self._path.exists()

    def _link(self) -> None:
        fresh = self._path.with_name(f"{self._path.name}.{os.getpid()}")
        fresh.symlink_to(os.ttyname(self._slave))
        fresh.replace(self._path)  # atomic, and also over a link of a killed process

    def _flush(self, status: int) -> None:
        """Handle a client's flush: it opens the line (as pyserial does) or drops unread bytes."""
        if status & termios.TIOCPKT_FLUSHREAD:
            termios.tcflush(self._master, termios.TCOFLUSH)
            self._forget_unsent()
            self._adapter.forget_line()

    def _forget_unsent(self) -> None:
        self._unsent = b""
        self._gathered.clear()

    def _write(self, line: bytes) -> bool:
        """Send to the client. Return False if the client doesn't read; the line is lost."""
        if not self._gathers:
            return self._send(line)
        if self._master < 0 or self._unsent:
            return False
        self._gathered.append(line)
        return True

    def _send(self, lines: bytes) -> bool:
        """Write to the client. Return False if it doesn't read; the lines are lost."""
        if self._master < 0:
            return False
        try:
            if self._unsent:
                self._unsent = self._unsent[os.write(self._master, self._unsent) :]
                if self._unsent:
                    return False
            self._unsent = lines[os.write(self._master, lines) :]
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EIO):
                raise
            return False
        return True
