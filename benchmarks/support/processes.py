"""Processes that benchmarks measure: the control process and bare peers, and a ROS client."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import rclpy
import yaml
from ament_index_python.packages import get_package_prefix
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import get_rmw_implementation_identifier
from test_support.ros.tuned_middleware import tuned_middleware

from benchmarks.support import program_runner
from benchmarks.support.program_runner import TIMEOUT, Running
from humanoid_bringup.executables import command_line
from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import plan
from humanoid_control_common.rules.modes import Mode

ROOT = Path(__file__).resolve().parents[2]


class BenchmarkError(Exception):
    """A measurement failed."""


# Programs run where the package `benchmarks` is found.
running = partial(program_runner.running, folder=ROOT)


def peer(name: str, *parameters: str) -> list[str]:
    """Return the command line of one of the bare programs in `peers/`."""
    return [sys.executable, "-m", f"benchmarks.support.peers.{name}", *parameters]


def control(folder: Path, backend: Backend, update_rate: int) -> list[str]:
    """Return the command line of Prime's control process in DAMPING, unpaced where simulated.

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
    return command_line(process)


def _controllers_file(folder: Path, update_rate: int) -> Path:
    """Write the controllers file of Prime with another update rate. Return its path."""
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
        """Serve callbacks for `seconds`. Raises BenchmarkError if `process` ends meanwhile."""
        end = time.monotonic() + seconds
        while (remaining := end - time.monotonic()) > 0.0:
            self._executor.spin_once(timeout_sec=min(remaining, 0.1))
            process.check()

    def spin_until(self, done: Callable[[], bool], what: str, process: Running) -> None:
        """Serve callbacks until `done`. Raises BenchmarkError if that takes too long."""
        end = time.monotonic() + TIMEOUT
        while not done():
            self._executor.spin_once(timeout_sec=0.1)
            process.check()
            if time.monotonic() > end:
                raise BenchmarkError(f"no {what} within {TIMEOUT:g} s\n{process.text()}")


@contextmanager
def client() -> Iterator[Client]:
    """Run a node with the middleware settings of `hc`; Ctrl-C stays a KeyboardInterrupt."""
    try:
        with tuned_middleware(get_rmw_implementation_identifier()):
            rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
            node = Node("benchmark")
        yield Client(node)
    finally:
        rclpy.try_shutdown()
