"""Select the tests that may run side by side, and reserve a ROS domain for each test process."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from test_support.programs.prepared_programs import PreparedPrograms

ROOT = Path(__file__).parent
TOOLS = ("hypothesis", "pytest_timeout", "xdist")  # requirements of the tests besides pytest
# Modules that only tests import. The whole test run demands them; elsewhere, as in `colcon test`
# after `make build` alone, the tests that need one are skipped.
OF_TESTS = ("hypothesis", "mcap_ros2", "onnx", "playwright", "psutil", "rosbags")
# Buses in wall time, rings on a virtual cable, threads that must be on time: not beside anything.
ALONE = (
    "src/humanoid_bringup_prime/test/launch/",
    "src/humanoid_bringup_prime/test/test_whole_robot.py",
    "src/humanoid_control_cli/test/test_joint_stream",
    "src/humanoid_control_cli/test/test_ring.py",
    "src/humanoid_control_cli/test/test_twin.py",
    "src/humanoid_devices/humanoid_devices_can/test/test_guard.py",
    "src/humanoid_devices/humanoid_devices_can/test/test_short_frames.py",
    "src/humanoid_devices/humanoid_devices_can/test/test_slcan.py",
    "src/humanoid_devices/humanoid_devices_can/test/test_threads.py",
    "src/humanoid_devices/humanoid_devices_erob/test/protocol/test_raw_socket.py",
    "src/humanoid_devices/humanoid_devices_sito/test/test_guard.py",
    "src/humanoid_devices/humanoid_devices_sito/test/test_serial.py",
    "src/humanoid_twin/test/ethercat/acceptance/test_pysoem.py",
    "src/humanoid_twin/test/robot/test_wrists.py",
)
# Tests that start whole programs or join a ROS domain: tests with these fixtures, and whole files.
PROGRAMS = {
    "src/humanoid_bringup_prime/test/test_": {
        "domain",
        "refused",
        "shared_domain",
        "simulated_robot",
        "used_robot",
    },
    "src/humanoid_control_cli/": {"start", "start_once"},
    "src/humanoid_devices/humanoid_devices_erob/": {"make_wire_bench"},
    "src/humanoid_viz/": {"domain"},
}
PROGRAM_FILES = (
    "src/humanoid_devices/humanoid_devices_erob/test/sdo/test_on_the_ring.py",
    "src/humanoid_twin/test/can/test_process.py",
    "src/humanoid_twin/test/ethercat/acceptance/",
    "src/humanoid_twin/test/robot/",
)


class SkipWithout:
    """Finds no module: skips a test, or a file of them, that imports one of OF_TESTS."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Raise the skip. Is asked when no other finder has found the module."""
        if name in OF_TESTS:
            text = f"{name} is not installed: `make setup`"
            raise pytest.skip.Exception(text, allow_module_level=True)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Know the option `timeout` of pyproject.toml also without its plug-in."""
    if find_spec("pytest_timeout") is None:
        parser.addini("timeout", "no effect: pytest_timeout is not installed")


def pytest_configure(config: pytest.Config) -> None:
    """Be on a ROS domain that no other process is on, whatever the environment names.

    The user's home is left alone.
    """
    if missing := [name for name in TOOLS if find_spec(name) is None]:
        if config.pluginmanager.has_plugin("accounting"):  # the test runner
            raise pytest.UsageError(f"tests need {', '.join(missing)}: run `make setup`")
        sys.meta_path.append(SkipWithout)
        config.add_cleanup(lambda: sys.meta_path.remove(SkipWithout))
    from test_support.expansions import share_expansions
    from test_support.ros.ros_domains import on_reserved_domain

    from humanoid_control_common.errors import ConfigError

    if "hypothesis" not in missing:
        repeat_examples()
    heed_signals()
    share_expansions()
    if "ROS_HOME" not in os.environ:  # workers inherit it; for logs and files of the black box
        folder = tempfile.mkdtemp(prefix="humanoid_control_tests_")
        os.environ["ROS_HOME"] = folder
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
    reservation = ExitStack()
    try:
        reservation.enter_context(on_reserved_domain())
    except ConfigError as error:
        raise pytest.UsageError(str(error)) from None
    config.add_cleanup(reservation.close)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Spare the tests' garbage collections, and copies of this process, the collected tests."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def prepared() -> Iterator[PreparedPrograms]:
    """A process that starts this workspace's programs without the time of most imports."""
    from test_support.programs.prepared_programs import PreparedPrograms

    programs = PreparedPrograms()
    yield programs
    programs.close()


def repeat_examples() -> None:
    """Give property-based tests the same examples in every run, however busy the machine is."""
    from hypothesis import HealthCheck, settings

    settings.register_profile(
        "workspace",
        deadline=None,
        max_examples=40,
        database=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
    )
    settings.load_profile("workspace")


def heed_signals() -> None:
    """Let programs that tests start heed the signals that tests end them with.

    What is ignored here (SIGHUP under nohup, SIGINT and SIGQUIT in the background of a script) they
    would ignore, too. What is handled they don't inherit.
    """
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
        if signal.getsignal(number) is signal.SIG_IGN:
            by_python = number is signal.SIGINT
            signal.signal(number, signal.default_int_handler if by_python else _stay)


def _stay(*_: object) -> None:
    """Outlive the signal, as before."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what can't share the machine, and what can, but with programs of its kind only."""
    for item in items:
        path = item.path.relative_to(ROOT).as_posix()
        if path.startswith(ALONE):
            item.add_marker(pytest.mark.alone)
        elif path.startswith(PROGRAM_FILES) or _starts_programs(path, item):
            item.add_marker(pytest.mark.programs)


def _starts_programs(path: str, item: pytest.Item) -> bool:
    used = set(getattr(item, "fixturenames", ()))
    return any(path.startswith(folder) and used & found for folder, found in PROGRAMS.items())
