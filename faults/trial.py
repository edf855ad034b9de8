"""One fault, from health to health."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from random import Random
from typing import Final

from faults.heard import GRACE, Heard
from faults.judge import Limits, Verdict, Window, judge, stiff
from faults.kept import Expected
from faults.kind import Filed, Kind, Outcome, Recovery, RefutedError, Scene
from faults.robot import NotHealthyError, Robot
from faults.situation import HANDS, Start, draw
from faults.stream import Stream
from humanoid_control_common.modes import Mode

PATIENCE: Final = 6.0  # [s] to reach the situation
SETTLED: Final = 0.1  # [s] in which the loop has measured what mending did to the joints
ROOM: Final = 12.0  # [s] of a recording
MODES: Final = {
    Start.ZERO_TORQUE: Mode.ZERO_TORQUE,
    Start.DAMPING: Mode.DAMPING,
    Start.STANDBY_MOVING: Mode.STANDBY,
    Start.STANDBY_FINISHED: Mode.STANDBY,
    Start.REMOTE: Mode.REMOTE,
}


@dataclass(frozen=True, slots=True)
class Result:
    """Of one trial."""

    seed: int
    kind: str
    start: str
    joint: str
    verdict: Verdict | None  # None: it did not come to the fault
    violations: tuple[str, ...]
    begin: float  # [s] monotonic
    end: float
    expected: Expected | None  # what the black box must have kept; None: nothing
    held_up: float  # [s] longest time this machine had none for the virtual robot
    known: str = ""  # why this was to be expected of the kind

    @property
    def news(self) -> tuple[str, ...]:
        """Violations that nobody knew of."""
        return () if self.known else self.violations


class Trial:
    """One kind, one seed, one robot."""

    def __init__(self, robot: Robot, kind: Kind, seed: int, limits: Limits) -> None:
        self._robot, self._kind, self._seed, self._limits = robot, kind, seed, limits
        dice = Random(seed)
        situation = draw(dice, kind.starts)
        self._scene = Scene(robot, dice, situation, dice.choice(kind.joints), None)
        before = MODES[situation.start]
        self._heard = Heard(robot.witness, kind, before, self._scene.joint)
        self._violations: list[str] = []
        self._expected: Expected | None = None
        self._held_up = 0.0

    def run(self) -> Result:
        """From DAMPING to DAMPING. Raises NotHealthyError if that can't be had at either end."""
        begin = time.monotonic()
        self._robot.held_up()
        self._robot.healthy()
        self._robot.witness.forget()
        verdict = None
        with self._loaded():
            if self._settled() and self._reached():
                with self._streaming():
                    if self._remains():
                        verdict = self._struck()
            if verdict is None:
                now = self._robot.witness.now
                self._violations.append(f"not reached: mode {now.mode}, {now.status_message!r}")
        self._recovered()
        scene = self._scene
        return Result(
            self._seed,
            self._kind.name,
            scene.situation.start.value,
            scene.joint,
            verdict,
            tuple(self._violations),
            begin,
            time.monotonic(),
            self._expected,
            max(self._held_up, self._robot.held_up()),
            self._kind.known,
        )

    @contextmanager
    def _loaded(self) -> Iterator[None]:
        twin, situation = self._robot.twin, self._scene.situation
        for hand in HANDS:
            twin.payload(hand, situation.payload)
        for joint, torque in situation.pushes.items():
            twin.external_torque(joint, torque)
        try:
            yield
        finally:
            self._robot.unload()
            for hand in HANDS:
                twin.payload(hand, 0.0)

    def _settled(self) -> bool:
        """Whether the arms are where they may be made limp, if they are to be."""
        limp = self._scene.situation.start is Start.ZERO_TORQUE
        return not limp or self._robot.witness.within(PATIENCE, self._robot.at_rest)

    def _reached(self) -> bool:
        """Whether the mode of the situation came into force."""
        witness, start = self._robot.witness, self._scene.situation.start
        self._robot.twin.record(ROOM)
        if start is Start.DAMPING:
            return True
        if start is Start.ZERO_TORQUE:
            return witness.asked(Mode.ZERO_TORQUE, PATIENCE)
        witness.standby.clear()
        if not witness.asked(Mode.STANDBY, PATIENCE):
            return False
        if start is Start.STANDBY_MOVING:
            return True
        finished = witness.within(
            PATIENCE,
            lambda: (
                bool(witness.standby and witness.standby[-1].is_finished)
                or witness.now.mode != Mode.STANDBY
            ),
        )
        if not finished or start is Start.STANDBY_FINISHED:
            return finished and witness.now.mode == Mode.STANDBY
        return witness.asked(Mode.REMOTE, PATIENCE)

    def _remains(self) -> bool:
        """Whether the robot is still in its mode, and well, when the fault is due."""
        robot = self._robot
        robot.pass_until(robot.twin.time() + self._scene.situation.wait)
        return not self._heard.left

    @contextmanager
    def _streaming(self) -> Iterator[None]:
        scene = self._scene
        with ExitStack() as cleanup:
            if scene.situation.start is Start.REMOTE:
                stream = Stream(self._robot.witness, scene.situation.waves)
                scene.stream = cleanup.enter_context(stream)
            yield

    def _struck(self) -> Verdict:
        robot, kind, scene, heard = self._robot, self._kind, self._scene, self._heard
        scene.begins()
        wall = time.time()
        try:
            kind.inject(scene)
        except RefutedError as error:
            self._violations.append(str(error))
        fault = scene.began
        self._violations += heard.listen()
        robot.pass_until(fault + max(kind.watched, kind.within + 0.1))
        self._violations += heard.conclude()
        end = robot.twin.time()
        fallen = kind.outcome in (Outcome.SOFT, Outcome.OFF) or heard.fell
        if fallen and kind.filed is not Filed.NOTHING:
            # Of what stands still an alarm comes when it goes on.
            until = time.time() + (GRACE if kind.outcome is Outcome.OFF else 0.0)
            killed = kind.filed is Filed.END
            self._expected = Expected(wall, until, heard.words, killed)
        kind.mend(scene)
        window = Window(
            fault=fault,
            end=end,
            spared=kind.spared(scene),
            follows=kind.follows,
            jump=kind.jump,
        )
        return self._judged(window, fallen=fallen)

    def _judged(self, window: Window, *, fallen: bool) -> Verdict:
        """By the truth."""
        robot, kind = self._robot, self._kind
        self._held_up = robot.held_up()
        recording = robot.twin.recorded()
        robot.held_up()  # what that took is nobody's fault
        verdict = judge(recording, self._limits, window)
        self._violations += verdict.violations
        if fallen:
            if verdict.softened is None:
                self._violations.append(f"still stiff: {', '.join(stiff(recording, window))}")
            elif verdict.softened > kind.within:
                late = f"soft after {verdict.softened:.3f} s, stated are {kind.within:g} s"
                self._violations.append(late)
        return verdict

    def _recovered(self) -> None:
        """The documented way back to health."""
        robot = self._robot
        robot.pass_until(robot.twin.time() + SETTLED)
        if self._kind.recovery is Recovery.RESTART:
            robot.restart()
        try:
            robot.healthy()
        except NotHealthyError as error:
            way = self._kind.recovery.value
            self._violations.append(f"not well again after {way}: {error}")
            robot.restart()
            robot.healthy()
