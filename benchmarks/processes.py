"""Processes that are measured: the control process and bare peers, ended whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import IO

import rclpy
import yaml
from ament_index_python.packages import get_package_prefix
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import get_rmw_implementation_identifier

from humanoid_bringup_prime.bringup import plan
from humanoid_bringup_prime.options import Backend, Options
from humanoid_control_common.middleware import tuned_middleware
from humanoid_control_common.modes import Mode
from humanoid_control_common.testing import own_domains

BENCHMARKS = Path(__file__).resolve().parent
PATIENCE = 20.0  # [s] until something that should take one is given up
END_PATIENCE = 15.0  # [s] a process has to end after a signal; `hc up` has several to end itself


class BenchmarkError(Exception):
    """A benchmark could not measure what it is to measure."""


@dataclass(frozen=True, slots=True)
class Running:
    """A process that was started; `started` is the system time just before, in [ns]."""

    process: subprocess.Popen[bytes]
    started: int
    output: IO[bytes]

    def check(self) -> None:
        """Raise BenchmarkError with its output if it ended by itself."""
        code = self.process.poll()
        if code is not None:
            self._fail(f"ended with code {code}")

    def finish(self, patience: float = PATIENCE) -> None:
        """Wait until it has ended by itself. Raises BenchmarkError unless all went well."""
        try:
            code = self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self._fail(f"still runs after {patience:g} s")
        if code != 0:
            self._fail(f"ended with code {code}")

    def text(self) -> str:
        """What it wrote, to stdout and stderr."""
        self.output.seek(0)
        return self.output.read().decode(errors="replace")

    def _fail(self, what: str) -> None:
        raise BenchmarkError(f"{self.process.args!r} {what}:\n{self.text()}")


@contextmanager
def isolated() -> Iterator[None]:
    """A ROS domain of its own, on this machine; SIGTERM unwinds the stack as Ctrl-C does."""

    def leave(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    before = signal.signal(signal.SIGTERM, leave)
    os.environ["ROS_DOMAIN_ID"] = str(own_domains()[0])
    os.environ["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def running(command: Sequence[str]) -> Iterator[Running]:
    """Run `command` while the context is open. Ctrl-C reaches it through us only."""
    with tempfile.TemporaryFile() as output:
        started = time.time_ns()
        process = subprocess.Popen(
            command,
            cwd=BENCHMARKS,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            yield Running(process, started, output)
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            if process.poll() is not None:
                return
            process.send_signal(number)
            with suppress(subprocess.TimeoutExpired):
                process.wait(END_PATIENCE)
    finally:  # an impatient second Ctrl-C leaves nothing behind either
        if process.poll() is None:
            process.kill()
            process.wait()


def peer(name: str, *parameters: str) -> list[str]:
    """Command line of one of the bare programs in `peers/`."""
    return [sys.executable, "-m", f"peers.{name}", *parameters]


def control(folder: Path, backend: Backend, update_rate: int) -> list[str]:
    """Command line of Prime's control process in DAMPING, as fast as it can be where simulated.

    Parameter files are written into `folder`. The simulation chooses its update rate itself.
    """
    process = plan(
        Options(
            backend=backend,
            real_time_factor=0.0,
            initial_mode=Mode.DAMPING,
            viewer=False,
            black_box=False,
            controllers_file=_controllers_file(folder, update_rate),
        ),
        folder,
    )[0]
    executable = Path(get_package_prefix(process.package), "lib", process.package)
    return [str(executable / process.executable), *ros_arguments(process.parameter_files)]


def ros_arguments(parameter_files: Sequence[Path]) -> list[str]:
    """ROS's part of a command line."""
    files = [word for file in parameter_files for word in ("--params-file", str(file))]
    return ["--ros-args", *files]


def _controllers_file(folder: Path, update_rate: int) -> Path:
    """The controllers of Prime at another update rate."""
    share = get_package_prefix("humanoid_bringup_prime") + "/share/humanoid_bringup_prime"
    content = yaml.safe_load(Path(share, "config/prime_controllers.yaml").read_text("utf-8"))
    content["controller_manager"]["ros__parameters"]["update_rate"] = update_rate
    path = folder / "prime_controllers.yaml"
    path.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    return path


class Client:
    """A node of the benchmark itself, spun by hand."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(node)

    def spin_for(self, seconds: float, process: Running) -> None:
        """Serve callbacks for so long. Raises BenchmarkError if `process` ends meanwhile."""
        end = time.monotonic() + seconds
        while (remaining := end - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=min(remaining, 0.1))
            process.check()

    def spin_until(self, done: Callable[[], bool], what: str, process: Running) -> None:
        """Serve callbacks until `done`. Raises BenchmarkError if that takes too long."""
        end = time.monotonic() + PATIENCE
        while not done():
            self._executor.spin_once(timeout_sec=0.1)
            process.check()
            if time.monotonic() > end:
                raise BenchmarkError(f"no {what} within {PATIENCE:g} s\n{process.text()}")


@contextmanager
def client() -> Iterator[Client]:
    """A node that finds others as `hc` does; Ctrl-C stays an ordinary KeyboardInterrupt."""
    with tuned_middleware(get_rmw_implementation_identifier()):
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        yield Client(Node("benchmark"))
    finally:
        rclpy.try_shutdown()
