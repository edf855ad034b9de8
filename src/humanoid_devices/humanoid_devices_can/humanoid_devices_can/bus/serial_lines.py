"""Whole lines through a serial port, many with one read and with one write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from humanoid_control_common.machine.machine import Machine
from humanoid_devices_can.bus.serial_port import SerialPort

END: Final = b"\r"  # of a line
REFUSAL: Final = b"\a"  # ends a line too
LONGEST_LINE: Final = 64  # bytes; the longest answer of an adapter has 32
BUSY: Final = 0.001  # [s] until a port that another process reads is tried again
EMPTY_READS: Final = 20  # in a row, of a port that is readable again at once: it is closed


class SerialPortError(Exception):
    """The port can no longer be used. Its cause is the error of the operating system, if any."""


class SerialLines:
    """The lines of a port. One thread may read while another writes.

    Args:
        port: belongs to this object.
        machine: has the clock.
        take: is given each line without its END, but with its REFUSAL.
        take_noise: is given the beginning of bytes in which no line ends.

    All methods but `close` raise SerialPortError.
    """

    def __init__(
        self,
        port: SerialPort,
        machine: Machine,
        take: Callable[[bytes], None],
        take_noise: Callable[[bytes], None],
    ) -> None:
        self._port, self._machine, self._clock = port, machine, machine.clock
        self._take, self._take_noise = take, take_noise
        self._received = bytearray()  # the beginning of a line
        self._unsent = bytearray()  # the port has not accepted it yet

    @property
    def is_sent(self) -> bool:
        """Return whether the port has accepted everything."""
        return not self._unsent

    def write(self, lines: bytes) -> None:
        """Write lines behind those that the port has not accepted yet."""
        self._unsent += lines
        self.push()

    def push(self) -> None:
        """Write what the port accepts now; the rest goes before anything else."""
        # pyserial's own write waits for a USB round trip per frame.
        try:
            del self._unsent[: self._port.write(self._unsent)]
        except (OSError, ValueError) as error:
            raise SerialPortError(f"cannot write: {error}") from error

    def read_until(self, there: Callable[[], bool], timeout: float) -> None:
        """Take the lines that have arrived, until it is `there` or `timeout` [s] has passed."""
        nothing = self._read() is None
        if there() or (nothing and timeout <= 0.0):
            return
        deadline, empty = self._clock() + timeout, 0
        while self._is_readable(max(deadline - self._clock(), 0.0)):
            found = self._read()
            if there():
                return
            # An empty read may be the end of the port: only a row of them shows it.
            if found is not False and self._clock() >= deadline:
                return
            if found is None:
                self._machine.sleep(BUSY)
            # The guard, or the control process, may have taken the bytes in between.
            empty = empty + 1 if found is False and self._is_readable(0.0) else 0
            if empty >= EMPTY_READS:
                raise SerialPortError("the serial port was closed at the other end")

    def close(self) -> None:
        """Close the port."""
        self._port.close()

    def _is_readable(self, timeout: float) -> bool:
        """Wait for bytes, or the end of the port, for at most `timeout` [s]."""
        try:
            return self._port.is_readable(timeout)
        except (OSError, ValueError) as error:
            raise SerialPortError(f"cannot read: {error}") from error

    def _read(self) -> bool | None:
        """Take the lines in what has arrived; return whether anything has.

        None: nothing, or another process reads the port at this moment.
        """
        try:
            data = self._port.read()
        except (OSError, ValueError) as error:
            raise SerialPortError(f"cannot read: {error}") from error
        if data is None:
            return None
        self._received += data
        self._split()
        return bool(data)

    def _split(self) -> None:
        """Move the whole lines out of the buffer."""
        end = max(self._received.rfind(END), self._received.rfind(REFUSAL)) + 1
        whole = bytes(self._received[:end])
        del self._received[:end]
        for line in whole.replace(REFUSAL, REFUSAL + END).split(END)[:-1]:
            self._take(line)
        if len(self._received) > LONGEST_LINE:
            noise = bytes(self._received)
            self._received.clear()
            self._take_noise(noise)
