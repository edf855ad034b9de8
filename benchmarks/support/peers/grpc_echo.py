"""A bare gRPC server of the joint stream's messages: no robot, no checks. Prints its address."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc

from humanoid_joint_client import joint_stream_pb2 as pb
from humanoid_joint_client.rpc import handler, methods


class Echo:
    """The state that answers an update has its key and the time of its receipt."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._latest: Any = None
        self._count = 0

    def commands(self, updates: Iterator[Any], _: Any) -> Any:
        """Take updates."""
        for update in updates:
            received = time.monotonic_ns()
            with self._changed:
                state = pb.State(position=update.position, velocity=update.velocity)
                state.load.extend(update.load)
                state.last_command.user_command_key = update.user_command_key
                state.last_command.received = received
                self._latest = state.SerializeToString()
                self._count += 1
                self._changed.notify_all()
        return pb.StreamEnd(status=1)

    def states(self, _request: Any, context: grpc.ServicerContext) -> Iterator[bytes]:
        """Answer each update."""
        seen = 0
        while context.is_active():
            with self._changed:
                self._changed.wait_for(lambda: self._count > seen, 0.5)  # noqa: B023
                message, fresh, seen = self._latest, self._count > seen, self._count
            if fresh:
                yield message


def main() -> int:
    """Serve until the input ends."""
    echo = Echo()
    answers: dict[str, Callable[..., Any]] = {it.name: echo.commands for it in methods()}
    answers |= {"StreamCommands": echo.commands, "StreamStates": echo.states}
    server = grpc.server(ThreadPoolExecutor(8), handlers=(handler(answers),))
    with TemporaryDirectory() as folder:
        address = f"unix:{Path(folder) / 'echo.sock'}"
        server.add_insecure_port(address)
        server.start()
        sys.stdout.write(f"{address}\n")
        sys.stdout.flush()
        server.wait_for_termination()
    return 0


if __name__ == "__main__":
    sys.exit(main())
