"""Start programs as copies of a process that has imported the modules which they use.

A copy is a process of its own: it has a session, environment, output and exit code, and ends like
one that was started anew. It spares the processor time of the imports.
"""

from __future__ import annotations

import functools
import gc
import importlib
import io
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any, Final, TextIO

# What the programs import most. A copy that uses gRPC may crash at its end: start it anew.
MODULES: Final = (
    "diagnostic_msgs.msg",
    "humanoid_bringup.plan",
    "humanoid_bringup_prime.impedance.node",
    "humanoid_control_cli.app",
    "humanoid_control_cli.mode_client",
    "humanoid_control_msgs.msg",
    "humanoid_control_msgs.srv",
    "humanoid_controller_manager.ros.process.control_process",
    "humanoid_controllers.mode_manager.mode_manager_node",
    "humanoid_viz.nodes.run_node",
    "mcap.reader",
    "mujoco",
    "numpy",
    "pydantic",
    "rclpy.executors",
    "rich.table",
    "sensor_msgs.msg",
    "std_srvs.srv",
    "typer",
    "xacro",
    "yaml",
)
_STREAMS: Final[list[TextIO]] = []  # standard streams of a copy; a program may replace them
LARGEST: Final = 1 << 17  # [bytes] of a request; the environment is the largest part of it


class PreparedPrograms:
    """A process that has imported MODULES, and starts this workspace's programs as copies."""

    def __init__(self) -> None:
        self._requests, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,  # copies get another one
                pass_fds=[theirs.fileno()],
                start_new_session=True,
            )

    def start(
        self, command: Sequence[str], environment: Mapping[str, str], output: int
    ) -> PreparedProgram:
        """Start a program in an environment; it writes to file `output`.

        The first word of `command` is the path or name of a console script.
        """
        near, far = socket.socketpair()
        with far:
            request = json.dumps([list(command), dict(environment)]).encode()
            socket.send_fds(self._requests, [request], [output, far.fileno()])
        return PreparedProgram(command, near)

    def close(self) -> None:
        """End the process; copies that run stay."""
        self._requests.close()
        self._process.wait()


class PreparedProgram:
    """A copy; see subprocess.Popen for names and meanings."""

    def __init__(self, command: Sequence[str], messages: socket.socket) -> None:
        self.args = command
        self.returncode: int | None = None
        self._messages = messages
        self.pid = self._message()

    def _message(self) -> int:
        found = self._messages.recv(8)
        assert found, "the process that starts the programs has ended"
        return int.from_bytes(found, "little", signed=True)

    def poll(self) -> int | None:
        """See Popen."""
        return self._ended(0.0)

    def wait(self, timeout: float | None = None) -> int:
        """See Popen."""
        code = self._ended(timeout)
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return code

    def _ended(self, timeout: float | None) -> int | None:
        if self.returncode is None and select.select([self._messages], [], [], timeout)[0]:
            self.returncode = self._message()
            self._messages.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """See Popen."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        """See Popen."""
        self.send_signal(signal.SIGKILL)


def serve(requests: socket.socket) -> EntryPoint:
    """Start copies on request, and report their ends, until there are no more requests.

    Returns in each copy, with its program.
    """
    running: dict[int, tuple[int, socket.socket]] = {}
    while True:
        for ready in select.select([requests.fileno(), *running], [], [])[0]:
            if ready == requests.fileno():
                request, files, _, _ = socket.recv_fds(requests, LARGEST, 2)
                if not request:
                    sys.exit()
                command, environment = json.loads(request)
                output, messages = files[0], socket.socket(fileno=files[1])
                program = _console_script(Path(command[0]).name)
                pid = os.fork()
                if not pid:
                    for other, (_, theirs) in running.items():
                        os.close(other)
                        theirs.close()
                    messages.close()
                    requests.close()
                    _become(command, environment, output)
                    return program
                os.close(output)
                _tell(messages, pid)
                running[os.pidfd_open(pid)] = pid, messages
            else:
                pid, messages = running.pop(ready)
                os.close(ready)
                _tell(messages, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                messages.close()


@functools.cache
def _console_script(name: str) -> EntryPoint:
    (script,) = entry_points(group="console_scripts", name=name)
    return script


def _tell(messages: socket.socket, number: int) -> None:
    with suppress(BrokenPipeError):  # the test has ended
        messages.send(number.to_bytes(8, "little", signed=True))


def _become(command: list[str], environment: dict[str, str], output: int) -> None:
    os.setsid()
    for stream in (1, 2):
        os.dup2(output, stream)
    os.close(output)
    os.environ.clear()
    os.environ.update(environment)
    # Those of this process were made for another file.
    sys.stdout = _stream(1, "strict")
    sys.stderr = _stream(2, "backslashreplace", line_buffered=True)
    _STREAMS.extend((sys.stdout, sys.stderr))
    tempfile.tempdir = None  # the folder that the environment names
    sys.argv = command


def _stream(descriptor: int, errors: str, *, line_buffered: bool = False) -> io.TextIOWrapper:
    """Return the stream that Python makes of a standard output that is no terminal."""
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    buffer = open(descriptor, "wb", buffering=0 if unbuffered else -1, closefd=False)  # noqa: SIM115
    return io.TextIOWrapper(
        buffer, errors=errors, line_buffering=line_buffered, write_through=unbuffered
    )


def main(descriptor: str) -> Any:
    """Import the modules; run the program in each copy. Returns its exit code."""
    for module in MODULES:
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    program = serve(socket.socket(fileno=int(descriptor))).load()
    return program()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
