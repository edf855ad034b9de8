"""Run programs, read their output while they run, and find the processes that they leave."""

import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from ament_index_python.packages import get_package_share_directory
from test_support.programs.prepared_programs import PreparedProgram, PreparedPrograms
from test_support.ros.ros_domains import reserved_domain
from typer.testing import CliRunner

from humanoid_bringup.supervision.terminal_signals import TERMINAL_SIGNALS
from humanoid_control_cli.app import app
from humanoid_control_cli.client import Client
from humanoid_control_cli.interrupts import importing
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_common.errors import RobotError
from humanoid_control_common.middleware.fastdds_tuning import PROFILE_VARIABLES

# An interrupt that waits, see `interrupts_wait`, comes here.
UNBLOCK = "import signal; signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT]); "
HC = UNBLOCK + "import sys; from humanoid_control_cli.main import main; sys.exit(main())"
LONGEST_WAIT = 60.0  # [s]; a dead-man's switch, far above the expected time
TIMEOUT = 30.0  # [s] of clients; a dead-man's switch, too
# One after the other, so that robots of two tests never meet.


def wait_until(condition: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + LONGEST_WAIT
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for: {what}")
        time.sleep(0.01)


def _environment() -> dict[str, str]:
    """Return this environment without the profile that a client in this process has set."""
    return {name: text for name, text in os.environ.items() if name not in PROFILE_VARIABLES}


class Run:
    """A running program, its output line by line, and its descendants.

    `begin` starts it in an environment; it writes to a file.
    """

    def __init__(
        self,
        begin: Callable[[dict[str, str], int], subprocess.Popen[bytes] | PreparedProgram],
        folder: Path,
        environment: dict[str, str],
    ) -> None:
        self.marker = f"HC_TEST_RUN={uuid.uuid4()}"
        key, value = self.marker.split("=")
        self._lines: list[str] = []
        self._mute = False
        self._changed = threading.Condition()
        output, theirs = os.pipe()
        self._output = os.fdopen(output, "rb")
        own = {"TMPDIR": str(folder), key: value}
        self.process = begin(_environment() | own | environment, theirs)
        os.close(theirs)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        for line in self._output:
            with self._changed:
                self._lines.append(line.decode().rstrip("\n"))
                self._changed.notify_all()
        with self._changed:
            self._mute = True
            self._changed.notify_all()

    @property
    def lines(self) -> list[str]:
        with self._changed:
            return list(self._lines)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def wait_for(self, text: str) -> None:
        with self._changed:
            self._changed.wait_for(lambda: text in self.text or self._mute, LONGEST_WAIT)
        assert text in self.text, f"no '{text}' in:\n{self.text}"

    def wait_for_match(self, pattern: str) -> None:
        with self._changed:
            self._changed.wait_for(
                lambda: re.search(pattern, self.text) or self._mute, LONGEST_WAIT
            )
        assert re.search(pattern, self.text), f"no '{pattern}' in:\n{self.text}"

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def finish(self) -> int:
        """Return the exit code after the program has ended and all its output was read."""
        code = self.process.wait(LONGEST_WAIT)
        self._reader.join(LONGEST_WAIT)
        return code

    def descendants(self) -> dict[int, str]:
        """Return pid and command line of every other process of this run."""
        found = {}
        for folder in Path("/proc").iterdir():
            if not folder.name.isdigit() or int(folder.name) == self.process.pid:
                continue
            try:
                environment = (folder / "environ").read_bytes()
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue  # it has ended, or belongs to another user
            if self.marker.encode() in environment.split(b"\0"):
                found[int(folder.name)] = command.replace(b"\0", b" ").decode()
        return found

    def descendant(self, part: str) -> int:
        """Pid of the one descendant with `part` in its command line."""
        (pid,) = (pid for pid, command in self.descendants().items() if part in command)
        return pid

    def wait_for_descendants(self, count: int) -> None:
        """Wait until there are `count` processes. A new process has no environment at first."""
        wait_until(lambda: len(self.descendants()) == count, f"{count} descendants")

    def wait_until_alone(self) -> None:
        wait_until(lambda: not self.descendants(), "the end of every descendant")

    def kill_descendants(self) -> dict[int, str]:
        """Kill the processes that the program has left; return them."""
        left = self.descendants()
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return left

    def clean_up(self) -> None:
        """Send SIGTERM if the program runs. Raises AssertionError if a process had to be killed."""
        killed = []
        if self.process.poll() is None:
            self.send(signal.SIGTERM)
            try:
                self.process.wait(LONGEST_WAIT)
            except subprocess.TimeoutExpired:
                killed.append(str(self.process.args))
                self.process.kill()
        try:
            self.wait_until_alone()
        except AssertionError:
            killed += self.kill_descendants().values()
        self.finish()
        self._output.close()
        assert not killed, f"had to be killed: {'; '.join(killed)}; its output:\n{self.text}"


class Starter:
    """Starts programs in a reserved ROS domain; ends the remaining processes after the test."""

    up: Run  # `hc up` of a robot that several tests share

    def __init__(self, folder: Path, prepared: PreparedPrograms) -> None:
        self._prepared = prepared
        self._reservation = ExitStack()
        self.environment = {
            "ROS_DOMAIN_ID": str(self._reservation.enter_context(reserved_domain())),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "ROS_HOME": str(folder / "ros"),
        }
        self._folder = folder
        self._runs: list[Run] = []

    def __call__(self, *arguments: str, **environment: str) -> Run:
        def begin(environment: dict[str, str], output: int) -> subprocess.Popen[bytes]:
            return subprocess.Popen(
                arguments, stdout=output, stderr=output, env=environment, start_new_session=True
            )

        return self._run(begin, environment)

    def hc(self, *arguments: str, **environment: str) -> Run:
        """Start `hc` as a copy of a process that has imported most of its modules."""
        return self._run(partial(self._prepared.start, ["hc", *arguments]), environment)

    def hc_anew(self, *arguments: str, **environment: str) -> Run:
        """Start `hc` as a user does, for tests of its start and of what the start imports."""
        return self(sys.executable, "-c", HC, *arguments, **environment)

    def _run(self, begin: Callable[..., Any], environment: dict[str, str]) -> Run:
        run = Run(begin, self._folder, self.environment | environment)
        self._runs.append(run)
        return run

    def ask(self, *arguments: str) -> tuple[int, str]:
        """Return exit code and output of `hc` with --timeout."""
        run = self.hc(*arguments, "--timeout", str(TIMEOUT))
        return run.finish(), run.text

    def ask_anew(self, *arguments: str) -> tuple[int, str]:
        """The same, as `hc_anew` starts it."""
        run = self.hc_anew(*arguments, "--timeout", str(TIMEOUT))
        return run.finish(), run.text

    def bring_up(self, backend: str, controllers: Path) -> None:
        words = ("--no-viewer", "--no-black-box", "--controllers", str(controllers))
        self.up = self.hc("up", backend, *words)
        self.up.wait_for("Prime is up")

    def temporary_files(self, pattern: str) -> set[Path]:
        """Return the temporary files that the programs have left."""
        return set(self._folder.glob(pattern))

    def clean_up(self) -> None:
        failures = []
        for run in reversed(self._runs):
            try:
                run.clean_up()
            except AssertionError as error:
                failures.append(str(error))
        self._reservation.close()
        assert not failures, "\n".join(failures)


@pytest.fixture
def start(tmp_path: Path, prepared: PreparedPrograms) -> Iterator[Starter]:
    starter = Starter(tmp_path, prepared)
    yield starter
    starter.clean_up()


@pytest.fixture(scope="module")
def start_once(
    tmp_path_factory: pytest.TempPathFactory, prepared: PreparedPrograms
) -> Iterator[Starter]:
    """The same for programs that several tests share."""
    starter = Starter(tmp_path_factory.mktemp("shared"), prepared)
    yield starter
    starter.clean_up()


def write_controllers(folder: Path, duration: float) -> Path:
    """The controllers of Prime; each of the two ways of STANDBY takes `duration` [s]."""
    share = Path(get_package_share_directory("humanoid_bringup_prime"))
    content = yaml.safe_load((share / "config/prime_controllers.yaml").read_text())
    for pose in content["standby_controller"]["ros__parameters"]["poses"].values():
        pose["duration"] = duration
    path = folder / "controllers.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.fixture
def slow_controllers(tmp_path: Path) -> Path:
    return write_controllers(tmp_path, 1000.0)


@pytest.fixture(scope="module")
def quick_controllers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_controllers(tmp_path_factory.mktemp("controllers"), 0.3)


@pytest.fixture(scope="module")
def robot(start_once: Starter, quick_controllers: Path) -> Starter:
    """Prime on mock hardware, shared by all tests of a module."""
    start_once.bring_up("mock", quick_controllers)
    return start_once


@pytest.fixture
def client(robot: Starter, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """A client of `robot` in this process."""
    for name, value in robot.environment.items():
        monkeypatch.setenv(name, value)
    with Client(TIMEOUT) as client:
        yield client


@pytest.fixture
def modes(client: Client) -> ModeClient:
    return ModeClient(client)


@pytest.fixture
def hc(start: Starter) -> Callable[..., Run]:
    """Starts `hc` with the given arguments, see Starter.hc."""
    return start.hc


@pytest.fixture
def hc_anew(start: Starter) -> Callable[..., Run]:
    """Starts `hc` with the given arguments, see Starter.hc_anew."""
    return start.hc_anew


@pytest.fixture
def moments() -> Callable[[int, float], list[float]]:
    """Return times [s] spread over a little more than `duration`: `count`, or SOAK_START_UPS."""

    def spread(count: int, duration: float) -> list[float]:
        count = int(os.environ.get("SOAK_START_UPS", count))
        return [1.1 * duration * (i + random.random()) / count for i in range(count)]

    return spread


@pytest.fixture
def interrupts_wait() -> Callable[[], AbstractContextManager[None]]:
    """Start programs to which an interrupt comes when they unblock it.

    Python's own start can lose one: `site` ignores what is raised while it reads .pth files.
    """
    return importing


@pytest.fixture(autouse=True)
def signals_are_heeded() -> Iterator[None]:
    """Restore the signal handlers of this process: a command ignores signals when it ends.

    Programs of later tests would inherit that.
    """
    before = {number: signal.getsignal(number) for number in TERMINAL_SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture
def hc_here(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, list[str]]]:
    """Run `hc` in this process, for tests independent of its start; return exit code and lines."""

    def run(*arguments: object, **environment: str) -> tuple[int, list[str]]:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        result = CliRunner().invoke(app, [*map(str, arguments)])
        lines = result.output.splitlines()
        if isinstance(result.exception, RobotError):  # as main.py prints it
            lines += f"hc: {result.exception}".splitlines()
        return result.exit_code, lines

    return run
