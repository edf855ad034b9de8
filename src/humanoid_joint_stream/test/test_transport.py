"""The transport limits the part of a stream that is under way to the server."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.support.http2 import INITIAL_WINDOW, SETTINGS, Connection
from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_stream.server.event_loop import EventLoop
from humanoid_joint_stream.server.service import JointStreamService
from humanoid_joint_stream.server.transport import WINDOW, local_server


class Listener(Connection):
    """Notes the frames that the server sends."""

    def __init__(self, path: str) -> None:
        self.received: list[tuple[int, int, bytes]] = []  # kind, flags, payload
        super().__init__(path)

    def _frames(self, data: bytes) -> Iterator[tuple[int, int, int, bytes]]:
        for kind, flags, stream, payload in super()._frames(data):
            self.received.append((kind, flags, payload))
            yield kind, flags, stream, payload


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Listener]:
    """A connection to a server whose robot does not run."""
    calls, socket = EventLoop(), tmp_path / "own/robot.sock"
    answers = JointStreamService(lambda: None, lambda: "none runs", lambda: 0).answers()
    server = calls.call(local_server(answers, socket))
    calls.call(server.start())
    it = Listener(str(socket))
    yield it
    it.close()
    calls.call(server.stop(None))
    calls.stop()


def test_few_updates_are_under_way_to_a_server_that_is_slower_than_its_client(
    connection: Listener,
) -> None:
    """The others wait at the client, which drops old ones; the window does not grow."""
    for _ in range(3):
        connection.call("SyncTime", pb.TimeRequest(client_send=1).SerializeToString())
    settings = [it for kind, flags, it in connection.received if kind == SETTINGS and not flags]
    found = dict(struct.iter_unpack("!HI", b"".join(settings)))
    assert found[INITIAL_WINDOW] == WINDOW
