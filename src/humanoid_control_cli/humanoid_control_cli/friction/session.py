"""Move joints of a running robot by recordings, with the conditions before, during and after."""

import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

from humanoid_bringup.supervision.terminal_signals import StopSignals
from humanoid_control_cli.client import Client
from humanoid_control_cli.controllers.requests import load_file, unload_controller
from humanoid_control_cli.description import described_robot, require_measured
from humanoid_control_cli.errors import NoAnswerError, RefusedError
from humanoid_control_cli.friction.driven_joint import DrivenJoint
from humanoid_control_cli.mode_client import ModeClient
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.rules.modes import Intent, Mode
from humanoid_motion.dynamics.gravity_model import GravityModel
from humanoid_servo_controllers.friction_recording.breakaway import Breakaway, BreakawayRecording
from humanoid_servo_controllers.friction_recording.controller import (
    CONTROLLER,
    RecordingMethod,
    recorder_parameters,
)
from humanoid_servo_controllers.friction_recording.recording import (
    LONGEST,
    Bounds,
    FrictionSample,
    Recording,
)
from humanoid_servo_controllers.friction_recording.sweep import Sweep, SweepRecording

END_MARGIN: Final = 0.1  # [rad] to the ends of a joint's range: a joint that breaks away overshoots
EFFORT_PART: Final = 0.5  # of the joint's limit
SPEED_PART: Final = 0.5  # of the joint's limit; beyond it a recording is aborted
PASSES: Final[dict[RecordingMethod, int]] = {"breakaway": 3, "sweep": 1}
GRAVITY_WAIT: Final = 0.5  # [s] for the state of the compensation, at 10 Hz
BREAKAWAY_PACE: Final = 0.02  # [rad/s] that a breakaway recording gets along, about


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a recording; None: the default."""

    method: RecordingMethod
    max_effort: float | None = None  # [Nm]
    passes: int | None = None
    speed: float = 0.02  # [rad/s]
    threshold: float = 0.02  # [rad]

    def recording(self, bounds: Bounds) -> Recording:
        """Return a recording within `bounds`."""
        if self.method == "sweep":
            return SweepRecording(bounds, Sweep(self.speed))
        return BreakawayRecording(bounds, Breakaway(self.threshold))


@dataclass(frozen=True, slots=True)
class Task:
    """One joint to record."""

    joint: str
    bounds: Bounds
    limit: float  # of its effort [Nm]
    velocity: float  # its limit [rad/s]

    def in_words(self, settings: Settings) -> str:
        """Return what will move, how far, how hard and about how long."""
        bounds = self.bounds
        pace = settings.speed if settings.method == "sweep" else BREAKAWAY_PACE
        minutes = (2 * bounds.passes + 0.5) * (bounds.upper - bounds.lower) / pace / 60.0
        return (
            f"{self.joint} moves between {bounds.lower:g} and {bounds.upper:g} rad, "
            f"{bounds.passes} times to and fro, pushed by up to {bounds.max_effort:g} Nm; about "
            f"{math.ceil(minutes)} min"
        )


class Robot:
    """A running robot in STANDBY.

    Raises RefusedError in another mode, NoAnswerError without a control process.
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        self.modes = ModeClient(client)
        self._description = described_robot(client)
        before = self.modes.statement()
        if before.mode is not Mode.STANDBY:
            raise RefusedError(
                f"in force is {before.in_force}, expected STANDBY: "
                "hc mode damp, hc mode standby --wait, then again"
            )

    def task(
        self, joint: str, settings: Settings, lower: float | None, upper: float | None
    ) -> Task:
        """Return what to do with `joint` from `lower` to `upper` [rad]; None: its range.

        Raises ConfigError for an unknown joint, a range beyond its own, an effort above its limit;
        RefusedError for a joint whose weight is unknown, since joints of its chain are mocked.
        """
        (row,) = self._description.joints.indices([joint])
        self._check_chain(row)
        limits = self._description.limits
        lowest, highest = float(limits.target_lower[row]), float(limits.target_upper[row])
        lower = lowest + END_MARGIN if lower is None else lower
        upper = highest - END_MARGIN if upper is None else upper
        if not lowest <= lower < upper <= highest:
            raise ConfigError(
                f"{joint}: from {lower:g} to {upper:g} rad, expected a range within {lowest:g} to "
                f"{highest:g} rad"
            )
        limit = float(limits.effort[row])
        effort = EFFORT_PART * limit if settings.max_effort is None else settings.max_effort
        if effort > limit:
            raise ConfigError(f"{joint}: --max-effort {effort:g} Nm, expected at most {limit:g} Nm")
        velocity = float(limits.velocity[row])
        bounds = Bounds(
            lower,
            upper,
            float(limits.lower[row]),
            float(limits.upper[row]),
            effort,
            SPEED_PART * velocity,
            settings.passes or PASSES[settings.method],
        )
        return Task(joint, bounds, limit, velocity)

    def _check_chain(self, row: int) -> None:
        robot = self._description
        names = robot.joints.names
        if robot.mocked and names[row] not in robot.mocked:  # a mock itself has no weight
            chain = GravityModel(robot.urdf, names).in_chain_with(np.arange(len(names)) == row)
            require_measured(robot, chain, names[row])


def record_joints(
    robot: Robot,
    tasks: Sequence[Task],
    settings: Settings,
    agree: Callable[[], bool],
    show: Callable[[str, Recording], None],
) -> Iterator[tuple[str, list[FrictionSample]]]:
    """Record `tasks` one after another; yield joint and samples. The robot ends in DAMPING.

    `agree` is called once before anything moves, when the robot has loaded the first controller.
    `show` is called with joint and recording now and then.

    Raises RefusedError if the robot refuses, another mode comes into force or `agree` is false,
    RecordingError, NoAnswerError; KeyboardInterrupt for a signal. No joint is driven then.
    """
    _load(robot.client, tasks[0], settings)
    try:
        agreed = agree()
    except BaseException:
        unload_controller(robot.client, CONTROLLER)
        raise
    if not agreed:
        unload_controller(robot.client, CONTROLLER)
        raise RefusedError("nothing has moved")
    with StopSignals() as signals:
        for i, task in enumerate(tasks):
            if i:
                robot.modes.wait_for_ready_pose(robot.modes.request(Intent.LOAD))
                _load(robot.client, task, settings)
            recording = settings.recording(task.bounds)
            try:
                _drive(robot, task, recording, signals, show)
            finally:
                _leave(robot)
            yield task.joint, list(recording.samples)


def _load(client: Client, task: Task, settings: Settings) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{CONTROLLER}.yaml"
        text = recorder_parameters(settings.method, task.joint, task.limit, task.velocity)
        file.write_text(text, encoding="utf-8")
        load_file(client, file)


def _drive(
    robot: Robot,
    task: Task,
    recording: Recording,
    signals: StopSignals,
    show: Callable[[str, Recording], None],
) -> None:
    """Follow `recording` to its end in REMOTE; see `record_joints`."""
    client = robot.client
    joint = DrivenJoint(client.node, task.joint)
    try:
        if not client.wait(lambda: joint.has_subscriber or signals.count, client.timeout):
            raise NoAnswerError(f"{CONTROLLER}: no subscription within {client.timeout:g} s")
        if not client.wait(lambda: joint.knows_gravity, GRAVITY_WAIT):
            sys.stderr.write("hc: this robot has no model of gravity: none is subtracted\n")
        if signals.count:
            raise KeyboardInterrupt
        robot.modes.request(Intent.START_REMOTE)
        joint.drive(recording)
        silence = _LatestMeasurement(joint, client.clock)

        def over() -> bool:
            show(task.joint, recording)
            ended = recording.done or joint.error is not None or _taken_over(robot.modes)
            return bool(signals.count or ended or silence.is_over_limit())

        client.wait(over, math.inf)
    finally:
        joint.stop()
    if signals.count:
        raise KeyboardInterrupt
    _judge(robot.modes, recording, joint)


def _judge(modes: ModeClient, recording: Recording, joint: DrivenJoint) -> None:
    """Raise RobotError unless the recording came to its end."""
    if _taken_over(modes):
        raise RefusedError(f"in force is {modes.statement()}: the recording is aborted")
    if joint.error is not None:
        raise joint.error
    if not recording.done:
        raise NoAnswerError(f"no measurement for {LONGEST:g} s: the recording is aborted")


class _LatestMeasurement:
    """Notes when the latest measurement of a joint arrived."""

    def __init__(self, joint: DrivenJoint, clock: Callable[[], float]) -> None:
        self._joint, self._clock = joint, clock
        self._count, self._at = joint.measurements, clock()

    def is_over_limit(self) -> bool:
        """Return whether none has arrived for too long."""
        now = self._clock()
        if self._joint.measurements != self._count:
            self._count, self._at = self._joint.measurements, now
        return now - self._at > LONGEST


def _taken_over(modes: ModeClient) -> bool:
    """Return whether something else than the recorder is in force."""
    latest = modes.latest
    return latest is not None and CONTROLLER not in latest.controller.split("+")


def _leave(robot: Robot) -> None:
    """Leave REMOTE for DAMPING, and unload the controller."""
    if not _taken_over(robot.modes):
        robot.modes.request(Intent.DAMP)
    unload_controller(robot.client, CONTROLLER)
