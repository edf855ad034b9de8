"""The client of a control channel: one JSON request a line, one JSON reply a line."""

import inspect
import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar, Concatenate, Final, ParamSpec, Self, TypeVar, cast

from humanoid_twin.control.address import address_of
from humanoid_twin.control.commands import TimeCommands
from humanoid_twin.errors import TwinError

_TIMEOUT: Final = 60.0  # [s] for a reply; a long `advance` takes its time
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")
Method = Callable[Concatenate[Any, Arguments], Result]


class ControlClient:
    """A connection to one process of the virtual robot, for one thread at a time.

    Its commands are attributes made by `remote`. All of them raise `error` if the process refuses
    or is gone.
    """

    process_name: ClassVar[str] = "robot"
    error: ClassVar[type[TwinError]] = TwinError

    def __init__(self, path: Path | str) -> None:
        """Connect to the socket at `path`. Raises `error` if no process listens there."""
        self._path = str(path)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.settimeout(_TIMEOUT)
        try:
            with address_of(Path(path)) as address:
                self._socket.connect(address)
        except OSError as error:
            self._socket.close()
            raise self.error(
                f"no {self.process_name} listens at '{path}': {error.strerror}"
            ) from error
        self._stream = self._socket.makefile("rb")

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def request(self, command: str, **arguments: object) -> Any:
        """Return the reply to a command, as JSON has it."""
        line = json.dumps({"command": command, "arguments": arguments}, default=to_json)
        try:
            self._socket.sendall(line.encode() + b"\n")
            reply = self._stream.readline()
        except ConnectionError:
            reply = b""
        except OSError as error:
            raise self.error(
                f"the {self.process_name} at '{self._path}' doesn't answer: {error}"
            ) from error
        if not reply:
            raise self.error(f"the {self.process_name} at '{self._path}' is gone")
        decoded = json.loads(reply)
        if "error" in decoded:
            raise self.error(f"{command}: {decoded['error']}")
        return decoded["result"]


def to_json(value: Any) -> object:
    """Return what JSON has in place of a value: hexadecimal digits for bytes, a list for others."""
    return value.hex() if isinstance(value, bytes) else list(value)


class _Remote:
    """A descriptor: on a client, the command that the attribute is named after."""

    def __init__(self, command: Callable[..., Any], decode: Callable[[Any], Any] | None) -> None:
        self._signature = inspect.signature(command)
        self._decode = decode
        self._name = ""
        self.__doc__ = command.__doc__

    def __set_name__(self, _owner: type, name: str) -> None:
        self._name = name

    def __get__(self, client: ControlClient | None, _owner: type) -> Any:
        if client is None:
            return self

        def call(*positional: Any, **named: Any) -> Any:
            _, *arguments = self._signature.bind(client, *positional, **named).arguments.items()
            reply = client.request(self._name, **dict(arguments))
            return reply if self._decode is None else self._decode(reply)

        return call

    def __call__(self, client: ControlClient, *positional: Any, **named: Any) -> Any:
        """Call the method as a function of the class: `Client.name(client, …)`."""
        return self.__get__(client, type(client))(*positional, **named)


def remote(command: Method[Arguments, Result]) -> Method[Arguments, Result]:
    """Return a client's method for a command of the process: same arguments, same result.

    The attribute's name is the command's name on the channel. Bytes are sent as hexadecimal digits,
    other sequences as lists.
    """
    return cast("Method[Arguments, Result]", _Remote(command, None))


def remote_decoded(
    command: Method[Arguments, Any], decode: Callable[[Any], Result]
) -> Method[Arguments, Result]:
    """Return the same as `remote`, with a function that makes the result of the JSON reply."""
    return cast("Method[Arguments, Result]", _Remote(command, decode))


def _pauses(rows: list[list[float]]) -> list[tuple[float, float]]:
    return [(end, length) for end, length in rows]


class TimedControl(ControlClient):
    """The commands of every process of the virtual robot."""

    advance = remote(TimeCommands.advance)
    time = remote(TimeCommands.time)
    epoch = remote(TimeCommands.epoch)
    pauses = remote_decoded(TimeCommands.pauses, _pauses)
