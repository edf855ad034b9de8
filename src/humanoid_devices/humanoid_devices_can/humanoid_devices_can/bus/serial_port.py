"""The serial port of an adapter: bytes that are written and read without waiting."""

import os
import select
from collections.abc import Callable
from typing import Any, Final, Protocol

import serial

_CHUNK: Final = 4096  # [bytes] of one read
_BAUD_RATE: Final = 115_200  # [bit/s]; adapters with a USB interface of their own ignore it


class SerialPort(Protocol):
    """An open port. One thread may read while another writes.

    All but `close` raise OSError or ValueError when the port is closed or its adapter is gone.
    """

    def write(self, data: bytes | bytearray) -> int:
        """Write what the port accepts now; return the number of bytes."""

    def read(self) -> bytes | None:
        """Return what has arrived. None: nothing, or another process reads at this moment.

        Empty bytes: the port is at its end, or another process has taken what had arrived.
        """

    def is_readable(self, timeout: float) -> bool:
        """Wait for bytes, or for the end of the port, for at most `timeout` [s]."""

    def close(self) -> None:
        """Close the port."""


OpenPort = Callable[..., SerialPort]  # takes the arguments of TtyPort


class TtyPort:
    """A terminal device of this machine. See SerialPort.

    Args:
        channel: path of the device, or PATH@BAUD_RATE.
        tty_baudrate: [bit/s], unless the channel has one.
        rtscts: whether the adapter uses the handshake RTS/CTS.

    Raises OSError, ValueError, and TypeError for another argument.
    """

    def __init__(
        self, channel: str, *, tty_baudrate: int = _BAUD_RATE, rtscts: bool = False
    ) -> None:
        path, _, rate = channel.partition("@")
        # pyserial sets the line up; its own reads and writes wait.
        self._device: Any = serial.serial_for_url(
            path, baudrate=int(rate or tty_baudrate), rtscts=rtscts
        )
        self._descriptor: int = self._device.fileno()

    def write(self, data: bytes | bytearray) -> int:
        """See SerialPort."""
        try:
            return os.write(self._descriptor, data)
        except BlockingIOError:
            return 0

    def read(self) -> bytes | None:
        """See SerialPort."""
        try:
            return os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return None

    def is_readable(self, timeout: float) -> bool:
        """See SerialPort."""
        return bool(select.select([self._descriptor], [], [], timeout)[0])

    def close(self) -> None:
        """See SerialPort."""
        self._descriptor = -1  # the number may be given to another file
        self._device.close()
