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
from humanoid_twin.control.server import MOST_CLIENTS, ControlServer
from humanoid_twin.errors import TwinError
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


def served(server: ControlServer, client: socket.socket, request: bytes) -> bytes:
    """Return the beginning of the reply to a request of a connected client."""
    client.sendall(request)
    server.serve(server.descriptors()[1])
    return client.recv(4096)


@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_a_request_nested_too_deep_is_refused_and_ends_nothing(
    tmp_path: Path, opening: bytes
) -> None:
    server = ControlServer(tmp_path / "control", lambda command, _: command)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(tmp_path / "control"))
        server.serve(server.descriptors()[0])
        nested = opening * (40_000 // len(opening)) + b"\n"
        assert b"RecursionError" in served(server, client, nested)
        assert json.loads(served(server, client, b'{"command": "time"}\n')) == {"result": "time"}
    server.close()


def test_a_file_that_is_no_socket_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("precious")
    with pytest.raises(TwinError, match=f"'{path}' exists and is no socket"):
        ControlServer(path, lambda command, _: command)
    assert path.read_text() == "precious"
    link = tmp_path / "link"
    link.symlink_to(path)
    with pytest.raises(TwinError, match=f"'{link}' exists and is no socket"):
        ControlServer(link, lambda command, _: command)


def test_a_socket_where_a_process_listens_is_kept_and_one_of_a_killed_process_is_replaced(
    tmp_path: Path,
) -> None:
    path = tmp_path / "control"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen(0)
        for _ in range(3):  # the second one fills its queue
            with pytest.raises(TwinError, match=f"process listens at .* '{path}'"):
                ControlServer(path, lambda command, _: command)
            assert path.is_socket()
    server = ControlServer(path, lambda command, _: command)
    with TimedControl(path):
        server.serve(server.descriptors()[0])
    server.close()


def test_a_client_that_takes_no_replies_holds_nothing_up_and_gets_all_of_them_later(
    tmp_path: Path,
) -> None:
    count, long = 100, "x" * 10_000
    server = ControlServer(tmp_path / "control", lambda command, _: f"{command} {long}")
    with socket.socket(socket.AF_UNIX) as slow, socket.socket(socket.AF_UNIX) as quick:
        for client in (slow, quick):
            client.connect(str(tmp_path / "control"))
            server.serve(server.descriptors()[0])
        requests = [b'{"command": "%d"}\n' % number for number in range(count)]
        slow.sendall(b"".join(requests))
        server.serve(server.descriptors()[1])
        (waiting,) = server.unread()
        assert waiting not in server.descriptors()
        assert served(server, quick, b'{"command": "time"}\n').startswith(b'{"result": "time')
        received = b""
        slow.setblocking(False)
        while received.count(b"\n") < count:
            try:
                received += slow.recv(1 << 16)
            except BlockingIOError:
                server.serve(waiting)
        replies = [json.loads(line)["result"] for line in received.splitlines()]
        assert replies == [f"{number} {long}" for number in range(count)]
        assert server.unread() == []
    server.close()


def test_one_client_too_many_is_told_so(tmp_path: Path) -> None:
    server = ControlServer(tmp_path / "control", lambda command, _: command)
    clients = [socket.socket(socket.AF_UNIX) for _ in range(MOST_CLIENTS + 1)]
    for client in clients:
        client.connect(str(tmp_path / "control"))
        server.serve(server.descriptors()[0])
    assert b"64 clients are connected" in clients[-1].recv(4096)
    clients[0].close()
    server.serve(server.descriptors()[1])
    with TimedControl(tmp_path / "control"):
        server.serve(server.descriptors()[0])
        assert len(server.descriptors()) == 1 + MOST_CLIENTS
    for client in clients:
        client.close()
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
