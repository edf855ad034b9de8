"""`hc friction record` and `hc friction check`: record a friction map, or check one."""

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from datetime import date
from pathlib import Path
from typing import IO, Final, Self

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table

from humanoid_bringup.supervision.terminal_signals import TERMINAL_SIGNALS
from humanoid_control_cli.client import Client
from humanoid_control_cli.command_line.plain_console import PlainConsole
from humanoid_control_cli.domain import robot_namespace
from humanoid_control_cli.friction.session import Robot, Settings, Task, record_joints
from humanoid_control_common.errors import ConfigError, RobotError
from humanoid_control_common.robot.domain_lock import take_domain_lock
from humanoid_servo_controllers.friction_file import (
    FrictionMaps,
    load_friction_maps,
    save_friction_maps,
)
from humanoid_servo_controllers.friction_recording.maps import (
    LEAST,
    Residual,
    friction_map,
    interpolated_bins,
    recorded_range,
    residuals,
)
from humanoid_servo_controllers.friction_recording.recording import (
    FrictionSample,
    Recording,
    RecordingError,
    direction_in_words,
)
from humanoid_servo_controllers.friction_recording.samples_file import samples_path, save_samples
from humanoid_servo_controllers.servo.friction_map import FrictionMap

LINE_EVERY: Final = 0.1  # part of a recording, without a terminal
# Part of the largest effort that no recording tells from zero: 0.001 Nm at most were found on a
# joint of the virtual robot without friction, with a largest effort of 4.5 Nm.
NOISE: Final = 0.001
# A map below this part has no friction worth a compensation: 0.0013 were found in MuJoCo without.
FRICTIONLESS: Final = 0.002
INTERRUPTED: Final = 130  # exit code, as of a shell


def record(  # noqa: PLR0913, PLR0917 - one argument for each option of the command
    joints: Sequence[str],
    file: Path,
    ends: tuple[float | None, float | None],
    points: int,
    settings: Settings,
    yes: bool,
    timeout: float,
) -> int:
    """Record `joints` into `file`, after a failure those before it.

    Returns the exit code. Raises RobotError.
    """
    table = samples_path(file)
    if file == table:
        raise ConfigError(f"{file}: a .csv has the samples, expected another suffix: .yaml")
    for path in (file, table):
        _check_new(path)
    if len(set(joints)) != len(joints):
        raise ConfigError(f"a joint is given twice: {', '.join(joints)}")
    samples: dict[str, list[FrictionSample]] = {}
    maps: dict[str, FrictionMap] = {}
    failure: RobotError | KeyboardInterrupt | None = None
    try:
        with _alone(), Client(timeout) as client:
            robot = Robot(client)
            tasks = {joint: robot.task(joint, settings, *ends) for joint in joints}
            for joint, own in _measured(robot, list(tasks.values()), settings, yes):
                maps[joint] = _map(tasks[joint], own, points)
                samples[joint] = own
    except (RobotError, KeyboardInterrupt) as error:
        failure = error
    if samples:  # minutes of motion: those of the joints before a failure are kept
        save_samples(table, samples)
        save_friction_maps(file, FrictionMaps(date.today(), settings.method, maps))
        count = sum(len(own) for own in samples.values())
        typer.echo(f"written to {file}: {', '.join(samples)}; {count} samples to {table}")
    return _exit_code(failure, [joint for joint in joints if joint not in samples])


def _exit_code(failure: RobotError | KeyboardInterrupt | None, missing: Sequence[str]) -> int:
    """Return the exit code of a recording; `missing`: its joints without samples.

    Raises `failure` if it is a RobotError.
    """
    if isinstance(failure, RobotError):
        raise failure
    if failure is None:
        return 0
    sys.stderr.write(f"hc: aborted, not recorded: {', '.join(missing)}\n")
    return INTERRUPTED


def _map(task: Task, samples: Sequence[FrictionSample], points: int) -> FrictionMap:
    """Return the map of `task`; tell the operator how many points are interpolated.

    Raises RecordingError for too few samples.
    """
    lower, upper = task.bounds.lower, task.bounds.upper
    try:
        found = friction_map(samples, lower, upper, points)
    except RecordingError as error:
        raise RecordingError(f"{task.joint}: {error}") from error
    if guessed := interpolated_bins(samples, lower, upper, points):
        sys.stderr.write(
            f"hc: {task.joint}: {guessed} of {2 * points} points are interpolated, fewer than "
            f"{LEAST} samples are there: more --passes or fewer --points\n"
        )
    largest = max(np.abs(it.efforts).max() for it in (found.forward, found.backward))
    if largest < (least := FRICTIONLESS * task.bounds.max_effort):
        sys.stderr.write(
            f"hc: {task.joint}: no friction found: {largest:.4f} Nm at most, and less than "
            f"{least:.4f} Nm is noise; docs/record_friction.md tells which robot has friction\n"
        )
    return found


def check(
    file: Path,
    joints: Sequence[str],
    bound: float,
    settings_of: Callable[[str], Settings],
    yes: bool,
    timeout: float,
) -> int:
    """Measure the maps of `file` again. Returns the exit code. Raises RobotError."""
    content = load_friction_maps(file)
    settings = settings_of(content.method)
    unknown = [joint for joint in joints if joint not in content.maps]
    if unknown:
        raise ConfigError(f"{file}: no map of {unknown[0]}, there are {', '.join(content.maps)}")
    maps = {joint: content.maps[joint] for joint in joints or content.maps}
    with _alone(), Client(timeout) as client:
        robot = Robot(client)
        tasks = [_task(robot, joint, settings, found) for joint, found in maps.items()]
        try:
            samples = dict(_measured(robot, tasks, settings, yes))
        except KeyboardInterrupt:
            sys.stderr.write("hc: aborted\n")
            return INTERRUPTED
    found = {
        task.joint: residuals(
            samples[task.joint],
            maps[task.joint],
            task.bounds.lower,
            task.bounds.upper,
            len(maps[task.joint].forward.positions),
        )
        for task in tasks
    }
    PlainConsole().print(_table(found, bound))
    within = all(
        is_within(it, bound, task.bounds.max_effort) for task in tasks for it in found[task.joint]
    )
    typer.echo("within the bound" if within else "NOT within the bound: record the map again")
    return 0 if within else 1


def is_within(residual: Residual, bound: float, max_effort: float) -> bool:
    """Return whether the largest residual is at most `bound` times the mean friction.

    A part NOISE of `max_effort` [Nm] is always within: a joint almost without friction has none to
    compare with.
    """
    return residual.largest <= max(bound * residual.friction, NOISE * max_effort)


def _alone() -> IO[str]:
    """Lock the recording of friction: two of them would drive the joint of one controller.

    Raises ConfigError naming the process that records.
    """
    return take_domain_lock("friction recording", robot_namespace())


def _end_as_ctrl_c() -> None:
    """Let the other stop signals act like Ctrl-C: the controller must not stay loaded."""
    for number in TERMINAL_SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup
            signal.signal(number, signal.getsignal(signal.SIGINT))


def _check_new(path: Path) -> None:
    """Raise ConfigError if a file cannot be made: after minutes of motion it would be late."""
    if path.exists():
        raise ConfigError(f"{path} exists already: choose another name, or remove it")
    if not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
        raise ConfigError(f"{path}: {path.parent} is no folder that can be written to")


def _task(robot: Robot, joint: str, settings: Settings, found: FrictionMap) -> Task:
    """Return the task that covers what `found` covers, within the range of the joint."""
    whole = robot.task(joint, settings, None, None).bounds
    lower, upper = recorded_range(found)
    return robot.task(joint, settings, max(lower, whole.lower), min(upper, whole.upper))


def _measured(
    robot: Robot, tasks: Sequence[Task], settings: Settings, yes: bool
) -> Iterator[tuple[str, list[FrictionSample]]]:
    """Yield joint and samples. Raises RobotError, and KeyboardInterrupt for the operator's end."""

    def agree() -> bool:
        for task in tasks:
            typer.echo(task.in_words(settings))
        if len(tasks) > 1:
            typer.echo("between two joints the robot goes through DAMPING and STANDBY")
        typer.echo("afterwards DAMPING: the arms sink; Ctrl-C ends the effort at once")
        return yes or typer.confirm("start?")

    _end_as_ctrl_c()
    with _Progress() as progress:
        yield from record_joints(robot, tasks, settings, agree, progress.show)


class _Progress:
    """A bar in a terminal that redraws it, else a line now and then. For a `with` statement."""

    def __init__(self) -> None:
        self._console = Console(stderr=True, markup=False, highlight=False)
        self._bar: Progress | None = None
        self._rows: dict[str, TaskID] = {}
        self._next: dict[str, float] = {}  # fraction of the next line
        self._cleanup = ExitStack()
        self._drawn = 0.0  # [s]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._cleanup.close()

    def show(self, joint: str, recording: Recording) -> None:
        """Show how far `recording` of `joint` is."""
        text = _state(recording)
        if not self._console.is_terminal or self._console.is_dumb_terminal:
            if recording.fraction >= self._next.setdefault(joint, 0.0):
                self._next[joint] += LINE_EVERY
                self._console.print(f"{joint}: {recording.fraction:.0%} {text}")
            return
        if self._bar is None:
            columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
            bar = Progress(*columns, console=self._console)
            self._bar = self._cleanup.enter_context(bar)
        if joint not in self._rows:
            self._rows[joint] = self._bar.add_task(joint, total=1.0)
        if time.monotonic() - self._drawn > LINE_EVERY:
            self._drawn = time.monotonic()
            self._bar.update(
                self._rows[joint], completed=recording.fraction, description=f"{joint} {text}"
            )


def _state(recording: Recording) -> str:
    """Return the latest sample in words."""
    if not recording.samples:
        return "no sample yet"
    latest = recording.samples[-1]
    return (
        f"{direction_in_words(latest.direction)} {latest.effort:+.3f} Nm at "
        f"{latest.position:+.3f} rad, {len(recording.samples)} samples"
    )


def _table(found: dict[str, tuple[Residual, Residual]], bound: float) -> Table:
    table = Table("joint", "direction", title=f"residual, in Nm; bound {bound:.0%} of the friction")
    for heading in ("friction", "mean", "largest", "bound", "bins"):
        table.add_column(heading, justify="right")
    for joint, own in found.items():
        for it in own:
            numbers = (it.friction, it.mean, it.largest, bound * it.friction)
            words = (f"{value:.3f}" for value in numbers)
            table.add_row(joint, direction_in_words(it.direction), *words, str(it.bins))
    return table
