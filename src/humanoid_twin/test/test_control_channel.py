"""The control channel: its socket, and clients with the methods of the processes."""

import json
import socket
import threading
from pathlib import Path
from types import FunctionType

import pytest

from humanoid_twin.can.commands import CanCommands
from humanoid_twin.can.control import CanControl
from humanoid_twin.control.client import ControlClient, TimedControl, remote, remote_decoded
from humanoid_twin.control.commands import TimeCommands
from humanoid_twin.control.server import ControlServer
from humanoid_twin.ethercat.commands import RingCommands
from humanoid_twin.ethercat.control import RingControl
from humanoid_twin.mounting import EncoderCommands
from humanoid_twin.physics.loads import Loads
from humanoid_twin.physics.recorder import RecorderCommands
from humanoid_twin.robot.control import RobotControl


def test_a_socket_may_lie_deeper_than_linux_has_bytes_for(tmp_path: Path) -> None:
    folder = tmp_path / ("deep" * 30)
    folder.mkdir()
    server = ControlServer(folder / "control", lambda command, arguments: command)
    assert (folder / "control").is_socket()
    with TimedControl(folder / "control"):
        server.serve(server.descriptors()[0])
        assert len(server.descriptors()) == 2
    server.close()
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("count", ["Infinity", "NaN", '"x"', "null", "[]"])
def test_an_argument_that_is_no_number_is_refused_and_ends_nothing(
    tmp_path: Path, count: str
) -> None:
    server = ControlServer(tmp_path / "control", lambda _, arguments: int(arguments["count"]))
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(tmp_path / "control"))
        server.serve(server.descriptors()[0])
        request = f'{{"command": "corrupt_next", "arguments": {{"count": {count}}}}}\n'
        client.sendall(request.encode())
        server.serve(server.descriptors()[1])
        assert "error" in json.loads(client.recv(4096))
    server.close()


@pytest.mark.parametrize(
    ("client", "commands", "prefix"),
    [
        (TimedControl, TimeCommands, ""),
        (CanControl, CanCommands, "can_"),
        (RingControl, RingCommands, ""),
        (RobotControl, EncoderCommands, ""),
        (RobotControl, Loads, ""),
        (RobotControl, RecorderCommands, ""),
    ],
)
def test_a_client_offers_every_command_of_the_process(
    client: type[ControlClient], commands: type, prefix: str
) -> None:
    names = [name for name, it in vars(commands).items() if isinstance(it, FunctionType)]
    public = [prefix + name for name in names if not name.startswith("_")]
    assert [name for name in public if not hasattr(client, name)] == []


def test_a_client_sends_arguments_by_name_and_decodes_the_reply(tmp_path: Path) -> None:
    class Pair(ControlClient):
        stray = remote(CanCommands.stray)
        drives = remote_decoded(CanCommands.drives, len)

    replies = [b'{"result": null}\n', b'{"result": [1, 2]}\n', b'{"result": [1]}\n']
    received = []

    def serve(listener: socket.socket) -> None:
        client, _ = listener.accept()
        with client, client.makefile("rb") as lines:
            for reply in replies:
                received.append(json.loads(lines.readline()))
                client.sendall(reply)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "control"))
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener,))
        thread.start()
        with Pair(tmp_path / "control") as pair:
            pair.stray(0x123, b"\x01\x02", extended=False)
            assert pair.drives() == 2
            assert Pair.drives(pair) == 1  # the campaign calls methods by their class
            with pytest.raises(TypeError, match="missing a required argument"):
                pair.stray(0x123)  # type: ignore[call-arg]
        thread.join()
    assert received[0] == {
        "command": "stray",
        "arguments": {"identifier": 0x123, "data": "0102", "extended": False},
    }
