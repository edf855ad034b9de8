"""One fault, from health to health."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from random import Random
from typing import Final

from faults.ends import violations as of_ends
from faults.heard import GRACE, Heard
from faults.judge import Verdict, Window, judge
from faults.kept import Expected
from faults.kind import Filed, Kind, Outcome, Recovery, RefutedError, Scene
from faults.robot import NO_ANSWER, NotHealthyError, Refusal, Robot
from faults.situation import HANDS, Start, draw
from faults.stream import Stream
from faults.violation import Breach, Violation
from humanoid_control_common.modes import Mode

PATIENCE: Final = 6.0  # [s] to reach the situation
SINKS: Final = 15.0  # [s] until raised arms hang
SETTLED: Final = 0.1  # [s] in which the loop has measured what mending did to the joints
ROOM: Final = 90.0  # [s] of a recording: more than a trial can take; the judge wants all of it
_RESET: Final = "reset sent, but "  # how a refusal of clear_fault begins that may come at first
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
    detail: str  # which faults, where the seed chooses them
    start: str
    joint: str
    verdict: Verdict | None  # None: it did not come to the fault
    violations: tuple[Violation, ...]
    begin: float  # [s] monotonic: the mode was reached
    end: float  # the fault was mended
    expected: Expected | None  # what the black box must have kept; None: nothing
    held_up: float  # [s] longest time between the two that the virtual robot had no processor
    refusals: int = 0  # of clear_fault, on the way back

    @property
    def known(self) -> tuple[Violation, ...]:
        """What is beyond a general bound, within what the kind allows."""
        return () if self.verdict is None else self.verdict.known


class Trial:
    """One kind, one seed, one robot."""

    def __init__(self, robot: Robot, kind: Kind, seed: int) -> None:
        self._robot, self._seed, self._name = robot, seed, kind.name
        dice = Random(seed)
        self._kind = kind = kind if kind.drawn is None else kind.drawn(dice)
        situation = draw(dice, kind.starts)
        self._scene = Scene(robot, dice, situation, dice.choice(kind.joints), None)
        before = MODES[situation.start]
        self._heard = Heard(robot.witness, kind, before, self._scene.joint)
        self._violations: list[Violation] = []
        self._expected: Expected | None = None
        self._held_up = 0.0
        self._begin = self._end = 0.0  # [s] monotonic, see Result

    def run(self) -> Result:
        """From DAMPING to DAMPING. Raises NotHealthyError if that can't be had at either end."""
        robot = self._robot
        robot.healthy()
        self._unprovoked()
        robot.witness.forget()
        self._begin = time.monotonic()
        robot.held_up()
        verdict = None
        with self._loaded():
            if self._reached():
                with self._streaming():
                    self._begin = time.monotonic()
                    robot.held_up()
                    if self._remains():
                        verdict = self._struck()
            if verdict is None:
                self._closed()
                now = robot.witness.now
                text = f"mode {now.mode}, {now.status_message!r}"
                self._violations.append(Violation(Breach.NOT_REACHED, text))
        refused = self._recovered(struck=verdict is not None)
        kind, scene = self._kind, self._scene
        return Result(
            self._seed,
            self._name,
            "" if kind.name == self._name else kind.name,
            scene.situation.start.value,
            scene.joint,
            verdict,
            tuple(self._violations),
            self._begin,
            self._end,
            self._expected,
            self._held_up,
            refused,
        )

    def _unprovoked(self) -> None:
        """What went wrong before the fault is there: nothing may."""
        self._violations += of_ends(self._robot.ends())
        self._violations += wrong_refusals(self._robot.refusals(), 0.0)

    def _closed(self) -> None:
        """The window ends in which a hold-up of this machine counts."""
        self._end = time.monotonic()
        self._held_up = self._robot.held_up()

    @contextmanager
    def _loaded(self) -> Iterator[None]:
        twin, situation = self._robot.twin, self._scene.situation
        for hand in HANDS:
            twin.payload(hand, situation.payload)
        if situation.start is not Start.ZERO_TORQUE:
            self._push()
        try:
            yield
        finally:
            self._robot.unload()
            for hand in HANDS:
                twin.payload(hand, 0.0)

    def _push(self) -> None:
        for joint, torque in self._scene.situation.pushes.items():
            self._robot.twin.external_torque(joint, torque)

    def _reached(self) -> bool:
        """Whether the mode of the situation came into force."""
        witness, start = self._robot.witness, self._scene.situation.start
        self._robot.twin.record(ROOM)
        if start is Start.DAMPING:
            return True
        if start is Start.ZERO_TORQUE:
            # Refused as long as an arm sinks.
            return witness.asked(Mode.ZERO_TORQUE, SINKS)
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
        robot, situation = self._robot, self._scene.situation
        limp = situation.start is Start.ZERO_TORQUE
        if limp:  # pushed for longer it would only hit its stops
            self._push()
        robot.pass_until(robot.twin.time() + situation.wait)
        if limp:
            robot.unload()
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
            self._violations.append(Violation(Breach.REFUTED, str(error)))
        fault = scene.began
        self._violations += heard.listen()
        robot.pass_until(fault + max(kind.watched, kind.within + 0.1))
        self._violations += heard.conclude()
        end = robot.twin.time()
        self._closed()
        fallen = kind.outcome in (Outcome.SOFT, Outcome.OFF) or heard.fell
        if fallen and kind.filed is not Filed.NOTHING:
            # Of what stands still an alarm comes when it goes on.
            until = time.time() + (GRACE if kind.outcome is Outcome.OFF else 0.0)
            killed = kind.filed is Filed.END
            self._expected = Expected(wall, until, heard.words, killed)
        try:
            kind.mend(scene)
        except RefutedError as error:
            self._violations.append(Violation(Breach.REFUTED, str(error)))
        window = Window(
            fault=fault,
            end=end,
            within=kind.within if fallen else None,
            spared=kind.spared(scene),
            follows=kind.follows,
            allowed={it.breach: it.upto for it in kind.allowed},
        )
        verdict = judge(robot.twin.recorded(), window)
        self._violations += verdict.violations
        return verdict

    def _recovered(self, *, struck: bool) -> int:
        """The documented way back to health; how often clear_fault was refused."""
        robot, kind = self._robot, self._kind
        robot.pass_until(robot.twin.time() + SETTLED)
        ends = robot.ends()  # of what a restart replaces
        if struck and kind.recovery is Recovery.RESTART:
            robot.restart()
        mended = time.monotonic()
        try:
            robot.healthy()
        except NotHealthyError as error:
            text = f"after {kind.recovery.value}: {error}"
            self._violations.append(Violation(Breach.NOT_WELL, text))
            robot.restart()
            robot.healthy()
        ends = ends.then(robot.ends())
        if struck:
            self._violations += of_ends(ends, kind.dies, kind.raises, unclean=kind.unclean)
        else:
            self._violations += of_ends(ends)
        refusals = robot.refusals()
        self._violations += wrong_refusals(refusals, mended + kind.healed)
        return len(refusals)


def wrong_refusals(refusals: Sequence[Refusal], healed: float) -> list[Violation]:
    """Those of clear_fault that are wrong: after `healed` [s, monotonic], or not for a reset."""
    wrong = [
        it
        for it in refusals
        if it.at > healed or not (it.text == NO_ANSWER or it.text.startswith(_RESET))
    ]
    if not wrong:
        return []
    late = f"{wrong[-1].at - healed:+.1f} s from when it must be accepted"
    return [Violation(Breach.REFUSED, f"{len(wrong)} times, last {late}: {wrong[-1].text}")]
