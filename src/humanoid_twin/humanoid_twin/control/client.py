"""The client of a control channel: one JSON request a line, one JSON reply a line."""

import json
import socket
from pathlib import Path
from typing import Any, ClassVar, Final, Self

from humanoid_twin.control.address import address_of
from humanoid_twin.errors import TwinError

_PATIENCE: Final = 60.0  # [s] for a reply; a long `advance` takes its time


class ControlClient:
    """Asks one process of the virtual robot. Not for several threads at once.

    All methods raise `error` if the process refuses, or is gone.
    """

    who: ClassVar[str] = "robot"
    error: ClassVar[type[TwinError]] = TwinError

    def __init__(self, path: Path | str) -> None:
        """Connects to the socket at `path`."""
        self._path = str(path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_PATIENCE)
        try:
            with address_of(Path(path)) as address:
                self._socket.connect(address)
        except OSError as error:
            self._socket.close()
            raise self.error(f"no {self.who} listens at '{path}': {error.strerror}") from error
        self._stream = self._socket.makefile("rb")

    def close(self) -> None:
        """Hang up."""
        self._stream.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, command: str, **arguments: object) -> Any:
        request = {"command": command, "arguments": arguments}
        try:
            self._socket.sendall(json.dumps(request).encode() + b"\n")
            line = self._stream.readline()
        except ConnectionError:
            line = b""
        except OSError as error:
            raise self.error(f"the {self.who} at '{self._path}' doesn't answer: {error}") from error
        if not line:
            raise self.error(f"the {self.who} at '{self._path}' is gone")
        reply = json.loads(line)
        if "error" in reply:
            raise self.error(f"{command}: {reply['error']}")
        return reply["result"]


class TimedControl(ControlClient):
    """What every process of the virtual robot can be asked."""

    def advance(self, seconds: float) -> float:
        """Let its time pass [s] (stepped clock only); the new time [s]."""
        return float(self._ask("advance", seconds=seconds))

    def time(self) -> float:
        """Its time [s] since it was switched on."""
        return float(self._ask("time"))

    def epoch(self) -> float:
        """The machine's monotonic clock when that was 0 [s] (wall clock only)."""
        return float(self._ask("epoch"))

    def pauses(self) -> list[tuple[float, float]]:
        """When it was held up for more than 8 ms since the last call: end, in its time, length [s].

        What its buses answered meanwhile came late. Wall clock only.
        """
        return [(end, length) for end, length in self._ask("pauses")]
