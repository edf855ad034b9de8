"""Run one trial: one fault, from DAMPING without a fault to the same."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from random import Random
from typing import Final, Self

from fault_campaign.approach import MODES, lead_to_start
from fault_campaign.disturbing.stream import Stream
from fault_campaign.judging.black_box_check import Expected
from fault_campaign.judging.bounds import LIMITS
from fault_campaign.judging.health import undamped
from fault_campaign.judging.judge import Verdict, Window, judge, judge_way_back
from fault_campaign.judging.links import contacts
from fault_campaign.judging.message_check import GRACE, MessageCheck
from fault_campaign.judging.process_ends import violations as of_ends
from fault_campaign.judging.violation import Violation, ViolationType
from fault_campaign.kinds.kind import Kind, Outcome, Recovery, RefutedError, RequiredRecord, Scene
from fault_campaign.robot import NO_ANSWER, NotHealthyError, Refusal, Robot
from fault_campaign.robot_joints import TargetJoint
from fault_campaign.scenario import HANDS, Scenario, Start, draw
from humanoid_bringup.robot_package import DEFAULT
from humanoid_control_common.rules.reason_codes import RESET_SENT

SETTLED: Final = 0.1  # [s] in which the loop has measured the effect of the mending on the joints
SOFT_FOR: Final = 0.1  # [s] for which a fault lasts after the time at which all joints must be soft
GIVE_UP: Final = 60.0  # [s] of a wait that another condition ends
ROOM: Final = 90.0  # [s] of a recording: more than a trial needs; the judge reads all of it
LOADING: Final = (10, 0.02)  # steps in which a stiff robot takes its payload, and time of each [s]


@dataclass(frozen=True, slots=True)
class Result:
    """Result of one trial."""

    seed: int
    kind: str
    detail: str  # the faults, if the seed chooses them
    start: str
    joint: str
    verdict: Verdict | None  # None: no fault was injected
    violations: tuple[Violation, ...]
    begin: float  # [s] monotonic: the mode was reached
    end: float  # the fault was mended
    expected: Expected | None  # record that the black box must have; None: none
    refusals: int = 0  # refusals of clear_fault in the recovery
    robot: str = DEFAULT
    adapter: str = ""  # CAN interface of the robot

    @classmethod
    def failed(
        cls,
        kind: Kind,
        seed: int,
        violations: tuple[Violation, ...],
        begin: float = 0.0,
        end: float = 0.0,
    ) -> Self:
        """Return the result of a trial that could not be brought to its end."""
        robot = kind.robot.robot
        return cls(seed, kind.name, "", "", "", None, violations, begin, end, None, robot=robot)

    @property
    def known(self) -> tuple[Violation, ...]:
        """Return the values beyond a general bound and within the bound of the kind."""
        return () if self.verdict is None else self.verdict.known


@dataclass(frozen=True, slots=True)
class DrawnTrial:
    """Decisions of the seed before a trial begins; `dice` decide the rest."""

    kind: Kind
    scenario: Scenario
    joint: str
    dice: Random

    @classmethod
    def of(cls, kind: Kind, seed: int) -> Self:
        """Return the draw of a seed."""
        dice = Random(seed)
        kind = kind if kind.drawn is None else kind.drawn(dice)
        scenario = draw(dice, kind.starts, kind.robot.all)
        if kind.apart:
            scenario = replace(scenario, payload=0.0, pushes={})
        return cls(kind, scenario, dice.choice(kind.joints), dice)


class Trial:
    """Runs one trial, of a kind and a seed, on a robot."""

    def __init__(self, robot: Robot, kind: Kind, seed: int) -> None:
        self._robot, self._seed, self._name = robot, seed, kind.name
        drawn = DrawnTrial.of(kind, seed)
        self._kind = drawn.kind
        self._scene = Scene(robot, drawn.dice, drawn.scenario, drawn.joint, None)
        before = MODES[drawn.scenario.start]
        self._heard = MessageCheck(robot.observer, drawn.kind, before, drawn.joint)
        self._violations: list[Violation] = []
        self._expected: Expected | None = None
        self._begin = self._end = 0.0  # [s] monotonic, see Result
        self._window: Window | None = None  # of the fault, unless its verdict has violations

    def run(self) -> Result:
        """Run from DAMPING to DAMPING. Raises NotHealthyError if that fails before or after."""
        robot = self._robot
        if robot.stands is None:
            robot.healthy()
        self._unprovoked()
        robot.observer.forget()
        self._begin = self._robot.machine.clock()
        verdict = None
        with self._loaded():
            if self._reached():
                with self._streaming():
                    self._begin = self._robot.machine.clock()
                    if self._remains():
                        verdict = self._struck()
            if verdict is None:
                self._end = robot.machine.clock()
                now = robot.observer.now
                text = f"mode {now.mode}, {now.status_message!r}"
                self._violations.append(Violation(ViolationType.NOT_REACHED, text))
        refused = self._recovered(struck=verdict is not None)
        kind, scene = self._kind, self._scene
        return Result(
            self._seed,
            self._name,
            "" if kind.name == self._name else kind.name,
            scene.scenario.start.value,
            scene.joint,
            verdict,
            tuple(self._violations),
            self._begin,
            self._end,
            self._expected,
            refused,
            kind.robot.robot,
            robot.adapter,
        )

    def _unprovoked(self) -> None:
        """Note the violations before the trial: there must be none."""
        self._violations += of_ends(self._robot.ends())
        self._violations += wrong_refusals(self._robot.refusals(), 0.0)

    @contextmanager
    def _loaded(self) -> Iterator[None]:
        self._load()
        if self._scene.scenario.start is not Start.ZERO_TORQUE:
            self._push()
        try:
            yield
        finally:
            self._robot.unload()
            self._hang(0.0)

    def _load(self) -> None:
        """Load the hands with the payload; in steps, so that a stiff robot does not swing."""
        robot, payload = self._robot, self._scene.scenario.payload
        if robot.stands is not None and payload:
            steps, period = LOADING
            for step in range(1, steps):
                self._hang(payload * step / steps)
                robot.pass_until(robot.twin.time() + period)
        self._hang(payload)

    def _hang(self, mass: float) -> None:
        for hand in HANDS:
            self._robot.twin.payload(hand, mass)

    def _push(self) -> None:
        for joint, torque in self._scene.scenario.pushes.items():
            self._robot.twin.external_torque(joint, torque)

    def _reached(self) -> bool:
        """Lead the robot to the mode of the scenario. Return True if it came into force."""
        robot, start = self._robot, self._scene.scenario.start
        robot.twin.record(ROOM)
        return robot.stands is start or lead_to_start(robot.observer, start)

    def _remains(self) -> bool:
        """Wait for the time of the fault. Return True if the robot did not leave its mode."""
        robot, scenario = self._robot, self._scene.scenario
        limp = scenario.start is Start.ZERO_TORQUE
        if limp:  # a longer push would move the joint to its stop
            self._push()
        robot.pass_until(robot.twin.time() + scenario.wait)
        if limp:
            robot.unload()
        return not self._heard.left

    @contextmanager
    def _streaming(self) -> Iterator[None]:
        scene = self._scene
        with ExitStack() as cleanup:
            if scene.scenario.start is Start.REMOTE:
                stream = Stream(self._robot.observer, scene.scenario.waves, self._robot.machine)
                scene.stream = cleanup.enter_context(stream)
            if scene.scenario.start is Start.JOINT_STREAM:
                cleanup.enter_context(self._robot.joint_stream(scene.scenario.waves))
            yield

    def _struck(self) -> Verdict:
        robot, kind, scene, heard = self._robot, self._kind, self._scene, self._heard
        scene.begins()
        wall = self._robot.date()
        try:
            kind.inject(scene)
        except RefutedError as error:
            self._violations.append(Violation(ViolationType.REFUTED, str(error)))
        fault = scene.began
        self._violations += heard.listen()
        soft_from = self._lasts(fault)
        stood = not heard.fell
        self._violations += heard.conclude()
        if kind.outcome is Outcome.EITHER and stood and heard.fell:  # at the last moment
            soft_from = self._softens()
        end = robot.twin.time()
        self._end = robot.machine.clock()
        fallen = kind.outcome in (Outcome.SOFT, Outcome.OFF) or heard.fell
        if fallen and kind.filed is not RequiredRecord.NOTHING:
            # The alarm of a stopped process comes when it continues.
            until = self._robot.date() + (GRACE if kind.outcome is Outcome.OFF else 0.0)
            killed = kind.filed is RequiredRecord.END
            self._expected = Expected(wall, until, heard.causes, killed)
        if fallen and kind.outcome is not Outcome.OFF:
            self._violations += self._undamped()
        try:
            kind.mend(scene)
        except RefutedError as error:
            self._violations.append(Violation(ViolationType.REFUTED, str(error)))
        window = Window(
            fault=fault,
            soft_from=soft_from,
            end=end,
            within=kind.within if fallen or kind.outcome is Outcome.STOPS else None,
            spared=kind.spared(scene),
            follows=kind.robot.of(TargetJoint.RING) if kind.follows else (),
            allowed={it.type: it.upto for it in kind.allowed},
        )
        return self._judged(window)

    def _undamped(self) -> list[Violation]:
        """Return the joints that the fall leaves without damping, of those that it must damp."""
        kind, scene = self._kind, self._scene
        if kind.requests_modes:
            return []
        exempt = {*kind.spared(scene), *kind.undamped(scene)}
        return [
            Violation(ViolationType.NOT_DAMPED, f"{joint}: {text}")
            for joint, text in undamped(self._robot).items()
            if joint not in exempt
        ]

    def _judged(self, window: Window) -> Verdict:
        kind, recording = self._kind, self._robot.twin.recorded()
        robot = kind.robot.robot
        verdict = judge(recording, window, LIMITS[robot])
        touching = contacts(recording, window.fault, window.end, robot) if kind.apart else []
        self._violations += [*verdict.violations, *touching]
        self._window = None if verdict.violations else window
        return verdict

    def _lasts(self, fault: float) -> float:
        """Let the fault last. Return the time [s] from which the limit to become soft counts.

        A random fault may let the robot go on, and make it fall at any time: until then it may be
        stiff.
        """
        robot, kind = self._robot, self._kind
        end = fault + max(kind.watched, kind.within + SOFT_FOR)
        if kind.outcome is not Outcome.EITHER:
            robot.pass_until(end)
            return fault
        twin, heard = robot.twin, self._heard
        robot.observer.within(GIVE_UP, lambda: heard.fell or twin.time() >= end)
        fell = self._softens() if heard.fell else fault
        robot.pass_until(end)
        return fell

    def _softens(self) -> float:
        """Let the fault last until all joints must be soft. Return the time of the fall [s]."""
        fell = self._robot.twin.time()
        self._robot.pass_until(fell + self._kind.within + SOFT_FOR)
        return fell

    def _way_back(self) -> list[Violation]:
        """Return the violations by the joints from the end of a fault with a fall until health.

        After an exit the arms fall, and the drives that a restart enables stop them by all their
        torque: that is not judged. Nor is a robot that goes on: it may be stiff, and the mending of
        an encoder is a jump.
        """
        kind, window, robot = self._kind, self._window, self._robot
        falls = kind.outcome in (Outcome.SOFT, Outcome.EITHER) and not kind.requests_modes
        if not falls or kind.recovery is Recovery.RESTART:
            return []
        if window is None or window.within is None:  # it has not fallen
            return []
        robot.pass_until(robot.twin.time() + SETTLED)
        # A drive that comes back has its old gains until those of DAMPING are written.
        window = replace(window, follows=kind.robot.of(TargetJoint.RING))
        return judge_way_back(robot.twin.recorded(), window, LIMITS[kind.robot.robot])

    def _recovered(self, *, struck: bool) -> int:
        """Run the documented recovery. Return the number of refusals of clear_fault."""
        robot, kind = self._robot, self._kind
        robot.pass_until(robot.twin.time() + SETTLED)
        ends = robot.ends()  # of the processes before a restart
        if struck and kind.recovery is Recovery.RESTART:
            robot.restart()
        mended = self._robot.machine.clock()
        try:
            robot.healthy()
        except NotHealthyError as error:
            text = f"after {kind.recovery.value}: {error}"
            self._violations.append(Violation(ViolationType.NOT_WELL, text))
            robot.restart()
            robot.healthy()
        else:
            self._violations += self._way_back()
        ends = ends.then(robot.ends())
        if struck:
            self._violations += of_ends(ends, kind.dies, kind.raises, unclean=kind.unclean)
        else:
            self._violations += of_ends(ends)
        refusals = robot.refusals()
        self._violations += wrong_refusals(refusals, mended + kind.healed)
        return len(refusals)


def wrong_refusals(refusals: Sequence[Refusal], healed: float) -> list[Violation]:
    """Return wrong refusals: after `healed` [s, monotonic], or for another reason than a reset."""
    wrong = [
        it
        for it in refusals
        if it.at > healed or (it.text != NO_ANSWER and RESET_SENT.name not in it.codes)
    ]
    if not wrong:
        return []
    late = f"{wrong[-1].at - healed:+.1f} s from when it must be accepted"
    return [Violation(ViolationType.REFUSED, f"{len(wrong)} times, last {late}: {wrong[-1].text}")]
