"""Motions played from files on the stepped robot: the file is edited, or the program is killed.

The kind handles a file as `hc play` does: it reads the file, checks it for the robot, and sends the
way to its beginning and its points. A killed program sends no further messages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from humanoid_control_msgs.msg import MITCommand, TrajectoryState
from humanoid_control_msgs.srv import FollowTrajectory
from test_support.operator import LATCHED
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from fault_campaign.campaign_controllers import TRAJECTORY
from fault_campaign.kinds.kind import Kind, Outcome, RefutedError, Scene
from fault_campaign.kinds.moving.motions import limits_of, range_of
from fault_campaign.kinds.moving.trajectories import (
    ACCELERATION,
    ROUNDING,
    Commands,
    Requests,
    heard,
    moves,
    seconds_of,
)
from fault_campaign.scenario import Start
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import JointSet
from humanoid_motion.motion_file.motion import FILE, Motion, motion_text, read_motion
from humanoid_motion.motion_file.playing import played

_FAR: Final = 0.15  # [rad] of a point from the open pose
_STEP: Final = 0.8, 1.2  # [s] from point to point
_ANSWERED: Final = 2.0  # [s] timeout of a request
_LATE: Final = 3.0  # [s] after its planned end
_NEAR: Final = 1e-3  # [rad] of the last command to the last point: the file has four digits


@dataclass(frozen=True, slots=True)
class _Program:
    """Plays a motion file until it is killed."""

    scene: Scene

    def play(self, path: Path) -> tuple[Motion, float]:
        """Play the file; return the motion and its duration [s].

        Raises ConfigError for a wrong file, RefutedError if the robot refuses.
        """
        robot = self.scene.robot
        state = robot.observer.joint_states[-1]
        lower, upper = range_of(robot.joints.robot, tuple(state.name))
        found = read_motion(path)
        found.check(JointSet(tuple(state.name)), lower, upper, 1.0)
        motion = found.motion
        present = dict(zip(state.name, state.position, strict=True))
        here = np.array([present.get(it, 0.0) for it in motion.joints])
        points = played(motion, here, 1.0, limits_of(robot.joints.robot, motion.joints).velocity)
        trajectory = JointTrajectory(
            joint_names=list(motion.joints),
            points=[
                JointTrajectoryPoint(positions=it.positions, time_from_start=seconds_of(it.time))
                for it in points
            ],
        )
        request = FollowTrajectory.Request(trajectory=trajectory)
        answer = robot.observer.answer(
            FollowTrajectory, f"/{TRAJECTORY}/follow", request, _ANSWERED
        )
        if answer is None:
            raise RefutedError(f"follow: no answer within {_ANSWERED:g} s")
        if not answer.success:
            raise RefutedError(f"{path.name} passed its check, and was refused: {answer.message}")
        return motion, points[-1].time


def _taught(dice: Random, middle: Mapping[str, float], names: Sequence[str], robot: str) -> Motion:
    """Return a motion of the joints `names` around `middle` [rad]."""
    lower, upper = range_of(robot, tuple(names))
    count = dice.randint(2, 5)
    times = np.cumsum([dice.uniform(*_STEP) for _ in range(count)])
    rows = [[middle[it] + dice.uniform(-_FAR, _FAR) for it in names] for _ in range(count)]
    positions = np.clip(rows, lower, upper)
    return Motion(robot, "2026-01-01T00:00:00Z", 2.0, 3.5, tuple(names), times, positions)


def _line(text: str, word: str, change: Callable[[str], str]) -> str:
    """Return `text` with a change of the last line that has `word`."""
    lines = text.splitlines()
    at = max(i for i, line in enumerate(lines) if word in line)
    lines[at] = change(lines[at])
    return "\n".join(lines) + "\n"


def _far(motion: Motion) -> str:
    beyond = motion.positions.copy()
    beyond[-1, 0] = 9.0
    return motion_text(replace(motion, positions=beyond), "far")


def _hasty(motion: Motion) -> str:
    there = motion.positions.copy()
    there[-1] = there[0] + np.where(there[0] > 0.0, -0.5, 0.5)
    there[:-1] = there[0]
    times = np.linspace(0.0, 0.02 * (len(there) - 1), len(there))
    return motion_text(replace(motion, positions=there, times=times), "hasty")


def _edits(motion: Motion) -> Sequence[Callable[[], str]]:
    """Return edits that make the file invalid."""
    text = motion_text(motion, "edited")
    names = motion.joints
    return (
        lambda: text[: len(text) // 2],
        lambda: text.replace(names[0], "tail"),
        lambda: _line(text, "time:", lambda it: it.replace("time:", "time: -")),
        lambda: _line(text, "time:", lambda it: it.replace("positions: [", "positions: [.nan, ")),
        lambda: _line(text, "time:", lambda it: it.replace("positions", "angles")),
        lambda: _line(text, "time:", lambda it: it.replace("]", ", 0.1]")),
        lambda: text + "points: *again\n",
        lambda: "",
        lambda: _far(motion),
        lambda: _hasty(motion),
    )


def _disturb(scene: Scene) -> None:
    """Play a motion; edit the file and kill the program during it.

    Raises RefutedError if an edited file is sent, if the motion does not end, or if a command
    exceeds its acceleration.
    """
    robot, dice = scene.robot, scene.dice
    observer = robot.observer
    latest = observer.joint_states[-1]
    requests = Requests(scene, None, dict(zip(latest.name, latest.position, strict=True)))
    commands, states = Commands(), list[TrajectoryState]()
    with (
        TemporaryDirectory(prefix="hc_played_") as folder,
        heard(observer, MITCommand, "prime/joint_commands", commands.add),
        heard(observer, TrajectoryState, f"/{TRAJECTORY}/state", states.append, LATCHED),
    ):
        requests.open()
        program, path = _Program(scene), Path(folder) / FILE
        names = dice.sample(robot.joints.all, dice.randint(1, len(robot.joints.all)))
        for _ in range(dice.randint(1, 2)):  # another program, also killed, takes over
            taught = _taught(dice, requests.middle, names, robot.joints.robot)
            path.write_text(dice.choice(_edits(taught))(), encoding="utf-8")
            _refused(program, path)
            path.write_text(motion_text(taught, "played"), encoding="utf-8")
            motion, duration = program.play(path)
            path.write_text("edited: while it is played\n", encoding="utf-8")
            observer.within(dice.uniform(0.0, duration), lambda: False)
        ended = observer.within(duration + _LATE, lambda: states and not moves(states[-1]))
    if not ended or states[-1].status != TrajectoryState.SUCCEEDED:
        raise RefutedError(f"the motion of a killed program does not end well: {states[-1:]}")
    last = dict(zip(commands.names, commands.positions[-1], strict=True))
    ends = zip(motion.joints, motion.positions[-1].tolist(), strict=True)
    missed = max(abs(last[name] - end) for name, end in ends)
    if missed > _NEAR:
        raise RefutedError(f"the motion ends {missed:.4f} rad from its last point")
    joint, acceleration = commands.worst()
    if acceleration > ROUNDING * ACCELERATION:
        allowed = f"allowed {ACCELERATION:g}"
        raise RefutedError(f"{joint} is commanded with {acceleration:.2f} rad/s², {allowed}")


def _refused(program: _Program, path: Path) -> None:
    """Play an invalid file. Raises RefutedError unless it is refused with its name and not sent."""
    try:
        program.play(path)
    except ConfigError as error:
        if not str(error).startswith(str(path)):
            raise RefutedError(f"the file is not named: {error}") from error
    else:
        raise RefutedError(f"an edited motion was played: {path.read_text(encoding='utf-8')}")


KINDS: Final = (
    Kind(
        name="command: motions played, edited, and their programs killed",
        inject=_disturb,
        starts=(Start.TRAJECTORIES,),
        outcome=Outcome.STAYS,
        apart=True,
        alone=True,
    ),
)
