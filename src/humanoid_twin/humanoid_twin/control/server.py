"""The robot's end of the control channel: one JSON request a line, one JSON reply a line."""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from humanoid_control_common.errors import RobotError
from humanoid_twin.control.address import address_of
from humanoid_twin.errors import TwinError

_LONGEST_LINE: Final = 1 << 20  # [bytes]
# Errors of malformed and impossible requests; Python's JSON has Infinity.
_REFUSED: Final = (
    ValueError, OverflowError, LookupError, TypeError, AttributeError, RobotError
)  # fmt: skip
Json = Any  # a value of the module json


class ControlServer:
    """A unix stream socket with any number of clients. Calls `execute` in the robot's loop."""

    def __init__(self, path: Path | None, execute: Callable[[str, dict[str, Json]], Json]) -> None:
        """Listen at `path` (nowhere if None). Raises TwinError if that is impossible."""
        self._path, self._execute = path, execute
        self._clients: dict[int, tuple[socket.socket, bytearray]] = {}
        self._listener: socket.socket | None = None
        if path is None:
            return
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            path.unlink(missing_ok=True)
            with address_of(path) as address:
                self._listener.bind(address)
        except OSError as error:
            self._listener.close()
            raise TwinError(f"control channel '{path}': {error.strerror or error}") from error
        self._listener.listen()
        self._listener.setblocking(False)

    def descriptors(self) -> list[int]:
        """Return the file descriptors to wait for."""
        listening = [self._listener.fileno()] if self._listener else []
        return [*listening, *self._clients]

    def serve(self, descriptor: int) -> None:
        """Serve one of `descriptors` that is readable."""
        if self._listener and descriptor == self._listener.fileno():
            client, _ = self._listener.accept()
            self._clients[client.fileno()] = client, bytearray()
        elif descriptor in self._clients:
            self._read(descriptor)

    def close(self) -> None:
        """Close all connections and remove the socket's file."""
        for client, _ in self._clients.values():
            client.close()
        if self._listener and self._path:
            self._listener.close()
            self._path.unlink(missing_ok=True)

    def _read(self, descriptor: int) -> None:
        client, pending = self._clients[descriptor]
        try:
            received = client.recv(1 << 16)
        except ConnectionError:
            received = b""
        pending += received
        if not received or len(pending) > _LONGEST_LINE:
            self._drop(descriptor)
            return
        *lines, rest = bytes(pending).split(b"\n")
        pending[:] = rest
        try:
            for line in lines:
                client.sendall(json.dumps(self._reply(line)).encode() + b"\n")
        except ConnectionError:
            self._drop(descriptor)

    def _reply(self, line: bytes) -> dict[str, Json]:
        try:
            request = json.loads(line)
            result = self._execute(request["command"], dict(request.get("arguments", {})))
        except _REFUSED as error:
            return {"error": f"{type(error).__name__}: {error}"}
        return {"result": result}

    def _drop(self, descriptor: int) -> None:
        self._clients.pop(descriptor)[0].close()
