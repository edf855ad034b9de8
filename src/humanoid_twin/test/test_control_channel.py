"""The control channel's socket."""

import json
import socket
from pathlib import Path

import pytest

from humanoid_twin.control.client import TimedControl
from humanoid_twin.control.server import ControlServer


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
