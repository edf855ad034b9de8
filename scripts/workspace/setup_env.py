"""Fill .venv with the dependencies of the workspace; setup.sh picks the Python and runs this.

Without ROS on the machine: the Jazzy wheels, made into a prefix that can be sourced. With a sourced
ROS 2 (--native): only the packages beside it, in an environment that sees the system's. Each step
writes a stamp with its dependencies, so that an interrupted run continues where it stopped and a
repeated run does nothing.
"""

from __future__ import annotations

import argparse
import fcntl
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path

import external
import pip_install
import ros_prefix
from preflight import SetupError, check_machine
from progress import Progress

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
STATE = VENV / "setup-state.json"
PYTHON_SERIES = "{}.{}".format(*sys.version_info)
PROOF = "import rclpy, sensor_msgs.msg, numpy, mujoco"  # works only if ROS and packages fit


@dataclass(frozen=True, slots=True)
class Plan:
    """Desired state of .venv."""

    native: Path | None  # prefix of the sourced ROS 2; None: the wheels
    requirements: tuple[Path, ...]  # installed one after another
    constraints: str  # versions of what the requirements do not name

    def identity(self) -> dict[str, str]:
        """Return the conditions for reusing an existing environment."""
        identity = {"root": str(ROOT), "ros": str(self.native or "wheels")}
        # A chosen Python, or ROS's own, must be the one in .venv; else any suitable one may stay.
        if self.native or "PYTHON" in os.environ:
            identity["python"] = PYTHON_SERIES
        return identity

    def stamps(self) -> dict[str, str]:
        """Return for each step a hash of its dependencies and those of the steps before."""
        digest = hashlib.sha256(self.constraints.encode() + Path(ros_prefix.__file__).read_bytes())
        stamps = {}
        for file in self.requirements:
            digest.update(file.read_bytes())
            stamps[file.name] = digest.hexdigest()
        return stamps


@dataclass(slots=True)
class State:
    """Present state of .venv."""

    identity: dict[str, str] = field(default_factory=dict)
    stamps: dict[str, str] = field(default_factory=dict)
    packages: list[str] = field(default_factory=list)  # entries of site-packages when it was whole

    @classmethod
    def load(cls) -> State:
        """Return the saved state, or that of an environment of which nothing is known."""
        try:
            return cls(**json.loads(STATE.read_text()))
        except (FileNotFoundError, json.JSONDecodeError, TypeError):
            return cls()

    def save(self) -> None:
        """Replace the saved state in one step."""
        new = STATE.with_suffix(".new")
        new.write_text(json.dumps(asdict(self)))
        new.replace(STATE)

    def suits(self, plan: Plan) -> bool:
        """Return True if the environment was made for the same ROS and Python as `plan`."""
        return plan.identity().items() <= self.identity.items()

    def lost_packages(self) -> bool:
        """Return True if entries of site-packages are missing since it was complete."""
        try:
            return not set(self.packages) <= set(os.listdir(ros_prefix.site_packages(VENV)))
        except FileNotFoundError:
            return True

    def fulfils(self, plan: Plan) -> bool:
        """Return whether nothing is left to do."""
        return (
            self.suits(plan)
            and plan.stamps().items() <= self.stamps.items()
            and (VENV / "bin/python").exists()
            and (VENV / "setup.sh").exists()
            and not self.lost_packages()
        )


def make_plan(native: Path | None, *, tools: bool = True) -> Plan:
    """Return the plan for the wheels, or for a ROS 2 in the prefix `native`; `tools`: for tests."""
    folder = ROOT / "requirements"
    if native is None:
        names, constraints = ["pip.txt", "ros-jazzy.txt"], (folder / "constraints.txt").read_text()
    else:
        names = (
            ["pip.txt"] if importlib.util.find_spec("colcon_core") else ["pip.txt", "colcon.txt"]
        )
        # ROS's compiled modules fit the NumPy that they were built with.
        constraints = f"numpy=={importlib.metadata.version('numpy')}\n"
    names.append("runtime.txt")
    if native is None and external.imported(ROOT):
        names.append("external.txt")
    if tools:
        names.append("dev.txt")
    return Plan(native, tuple(folder / name for name in names), constraints)


def set_up(plan: Plan) -> None:
    """Bring .venv to the state of `plan`. Raises SetupError."""
    if State.load().fulfils(plan):
        return
    with exclusive() as lock:
        state = State.load()
        if state.fulfils(plan):  # another run has done it
            return
        check_machine(ROOT, wheels=plan.native is None)
        ros = f"the ROS 2 in {plan.native}" if plan.native else "ROS 2 Jazzy as wheels"
        print(f"setup: {ros}, Python {platform.python_version()} ({sys.executable})", flush=True)
        fill(plan, state, lock)


@contextmanager
def exclusive() -> Iterator[int]:
    """Hold the workspace for one run at a time; yield the descriptor that holds it."""
    lock = os.open(ROOT, os.O_RDONLY)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("setup: another `make setup` runs here, waiting for it", flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield lock
    finally:
        os.close(lock)


def fill(plan: Plan, state: State, lock: int) -> None:
    """Run every step with a missing or old stamp, and save its stamp."""
    stamps = plan.stamps()
    fresh = not state.suits(plan) or not pip_install.works(VENV)
    if fresh or state.lost_packages():
        state = State(identity=state.identity)
    todo = [file for file in plan.requirements if state.stamps.get(file.name) != stamps[file.name]]
    progress = Progress(fresh + len(todo) + 2)
    if fresh:
        with progress.step("a new virtual environment, .venv"):
            create_environment(plan)
        state.identity = plan.identity() | {"python": PYTHON_SERIES}
        state.save()
    constraints = VENV / "constraints.txt"
    constraints.write_text(plan.constraints)
    for file in todo:
        upto = plan.requirements[: plan.requirements.index(file) + 1]
        with progress.step(f"packages of requirements/{file.name}") as refresh:
            pip_install.install(VENV, upto, constraints, refresh=refresh, keep_open=lock)
        state.stamps[file.name] = stamps[file.name]
        state.save()
    with progress.step("byte code"):
        pip_install.compile_all(VENV)
    with progress.step("scripts that open .venv"):
        finish_prefix(plan)
    state.packages = os.listdir(ros_prefix.site_packages(VENV))
    state.save()


def create_environment(plan: Plan) -> None:
    """Replace the virtual environment by an empty one."""
    command = [sys.executable, "-m", "venv", "--clear", str(VENV)]
    command += ["--system-site-packages"] if plan.native else []
    failure = last_words(command, pip_install.environment())
    if failure is not None:
        raise SetupError(f"`{' '.join(command)}` failed: {failure}")
    (VENV / "COLCON_IGNORE").touch()


def finish_prefix(plan: Plan) -> None:
    """Write the scripts that open .venv, and check that ROS can be imported through them."""
    if plan.native is None:
        ros_prefix.empty_build_machine_includes(VENV)
        script = ros_prefix.wheel_setup_script(VENV)
    else:
        script = ros_prefix.native_setup_script(VENV, os.environ["ROS_DISTRO"], plan.native)
    ros_prefix.write_setup_scripts(VENV, script)
    command = ["sh", "-c", f'. "$0" && exec python -c "{PROOF}"', str(VENV / "setup.sh")]
    hidden = set() if plan.native else {"AMENT_PREFIX_PATH", "PYTHONPATH"}
    environment = {name: value for name, value in os.environ.items() if name not in hidden}
    failure = last_words(command, environment)
    if failure is not None:
        (VENV / "setup.sh").unlink()
        raise SetupError(
            f"all is installed but `{PROOF}` fails: {failure}; `make distclean setup` starts anew"
        )


def last_words(command: Sequence[str], environment: Mapping[str, str]) -> str | None:
    """Return the last line of output of a command that failed; None if it succeeded."""
    tried = subprocess.run(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if tried.returncode == 0:
        return None
    return (tried.stdout.strip().splitlines() or [f"exit code {tried.returncode}"])[-1]


def main(arguments: Sequence[str] | None = None) -> int:
    """Return 0: .venv is ready; 1: it is not, for the printed reason; 130: interrupted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--native", type=Path, help="prefix of the sourced ROS 2 to use")
    parser.add_argument("--no-tools", action="store_true", help="leave out requirements/dev.txt")
    options = parser.parse_args(arguments)
    try:
        set_up(make_plan(options.native, tools=not options.no_tools))
    except SetupError as error:
        print(f"setup: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("setup: interrupted; run `make setup` again to go on", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
