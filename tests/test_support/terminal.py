"""A program in a terminal, for tests of the effects of keys."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading
from collections.abc import Callable


class Terminal:
    """`hc` in a terminal of 120 columns; `text` has its output."""

    def __init__(self, hc_words: list[str], environment: dict[str, str]) -> None:
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        self.process = subprocess.Popen(
            hc_words, stdin=slave, stdout=slave, stderr=slave, env=environment, close_fds=True
        )
        os.close(slave)
        self.text = ""
        self._changed = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self.master, 65536)
            except OSError:  # the other end is closed
                return
            with self._changed:
                self.text += data.decode(errors="replace")
                self._changed.notify_all()

    def wait_for(self, condition: Callable[[str], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: condition(self.text), 60), self.text[-3000:]

    def press(self, keys: str) -> None:
        os.write(self.master, keys.encode())

    def finish(self) -> int:
        code = self.process.wait(60)
        self._reader.join(60)
        os.close(self.master)
        return code
