"""The control channel's socket."""

from pathlib import Path

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
