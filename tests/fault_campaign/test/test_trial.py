"""One trial with a robot that follows a script: its result has all findings."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from fault_campaign.judging.process_ends import Ends
from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.kind import (
    Allowed,
    Kind,
    Outcome,
    Recovery,
    RefutedError,
    RequiredRecord,
    Scene,
    nothing,
)
from fault_campaign.programs import UnexpectedEnd
from fault_campaign.robot import NO_ANSWER, SLCAN, NotHealthyError, Refusal, Robot
from fault_campaign.robot_joints import PRIME
from fault_campaign.scenario import Start
from fault_campaign.trial import DrawnTrial, Result, Trial, wrong_refusals
from humanoid_control_msgs.msg import ControlMode

from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import FELL_TO_SAFETY, UNKNOWN_MODE
from humanoid_twin.physics.recorder import Recording

SENT = ("RESET_SENT", "SAFETY_SOURCE_FAULT")
RESET = "reset sent, but CAN reports FAULT: motors are being enabled anew; call again"
FALL = "Fell to safety: any; call clear_fault"
LIMP = {"left_elbow_pitch": "damping 0.00 Nm s/rad"}


@dataclass
class FakeObserver:
    """The messages of the robot."""

    mode: Mode = Mode.DAMPING
    message: str = ""
    safety: Sequence[Any] = ()
    diagnosed_fall: Set[str] = frozenset({"FELL_TO_SAFETY"})

    @property
    def now(self) -> ControlMode:
        return ControlMode(
            mode=int(self.mode),
            status_message=self.message,
            reason_codes=["FELL_TO_SAFETY"] if self.message else [],
        )

    def within(self, _seconds: float, condition: Callable[[], object]) -> bool:
        return bool(condition())

    def fresh(self, _seconds: float, _count: int = 3) -> bool:
        return True

    def request(self, mode: int) -> None:
        """Refuse each request."""

    def forget(self) -> None:
        """Do nothing: there are no messages."""


@dataclass
class FakeRobot:
    """A robot with ten rows of truth for each 10 ms of a wait, and with settings of a test."""

    observer: FakeObserver = field(default_factory=FakeObserver)
    now: float = 0.0  # [s]
    spoil: Callable[[Recording], None] = lambda _recording: None
    looks: list[Ends] = field(default_factory=list)  # before the fault, after it
    refused: list[list[Refusal]] = field(default_factory=list)  # the same
    gaps: list[float] = field(default_factory=list)  # [s] hold-up found by each check
    unwell: int = 0  # checks of its health until it is healthy again
    restarts: int = 0
    healthy_calls: int = 0
    mended: int = 0
    room: float = 0.0  # [s] of the recording
    machine: Machine = LINUX
    stands: Start | None = None
    adapter: str = SLCAN
    limp: dict[str, str] = field(default_factory=dict)  # joints without damping
    loads: list[tuple[float, float]] = field(default_factory=list)  # time [s] and payload [kg]

    @property
    def twin(self) -> Any:
        nothing: Callable[..., None] = lambda *_: None  # noqa: E731 - two words
        return SimpleNamespace(
            time=lambda: self.now, record=self._record, recorded=self._recorded,
            payload=lambda _hand, mass: self.loads.append((self.now, mass)),
            external_torque=nothing,
        )  # fmt: skip

    def _record(self, seconds: float) -> None:
        self.room, self.start = seconds, self.now

    def _recorded(self) -> Recording:
        steps = round((min(self.now, self.start + self.room) - self.start) * 1000)
        times = self.start + np.arange(steps + 1) / 1000
        still = np.zeros((steps + 1, len(PRIME.all)))
        arrays = [still.copy() for _ in range(5)]
        recording = Recording(PRIME.all, times, *arrays)
        self.spoil(recording)
        return recording

    def healthy(self) -> None:
        self.healthy_calls += 1
        if self.healthy_calls > 1 and self.unwell:
            self.unwell -= 1
            raise NotHealthyError("mode 1")

    def restart(self) -> None:
        self.restarts += 1

    def ends(self) -> Ends:
        return self.looks.pop(0) if self.looks else Ends()

    def refusals(self) -> list[Refusal]:
        return self.refused.pop(0) if self.refused else []

    def date(self) -> float:
        return time.time()

    def held_up(self) -> float:
        return self.gaps.pop(0) if self.gaps else 0.0

    def pass_until(self, when: float) -> None:
        self.now = max(self.now, when)

    def undamped(self) -> dict[str, str]:
        return self.limp

    def unload(self) -> None:
        """Do nothing: this robot has no hands."""


def falls(scene: Scene) -> None:
    robot = cast("FakeRobot", scene.robot)
    robot.observer.message = FALL


def mends(scene: Scene) -> None:
    cast("FakeRobot", scene.robot).mended += 1


KIND = Kind(name="any", inject=falls, mend=mends, starts=(Start.DAMPING,), codes=(FELL_TO_SAFETY,))


def run(robot: FakeRobot, kind: Kind = KIND, seed: int = 3) -> Result:
    return Trial(cast("Robot", robot), kind, seed).run()


def violation_types(robot: FakeRobot, kind: Kind = KIND) -> list[ViolationType]:
    return [it.type for it in run(robot, kind).violations]


def test_a_robot_without_violations_is_not_convicted() -> None:
    robot = FakeRobot()
    result = run(robot)
    assert result.violations == result.known == ()
    assert (robot.mended, robot.restarts, result.held_up) == (1, 0, 0.0)
    assert result.expected is not None
    assert [it.codes for it in result.expected.causes] == [("FELL_TO_SAFETY",)]
    assert not result.expected.killed
    assert result.verdict is not None
    assert result.verdict.softened == 0.0


def stay_stiff(recording: Recording) -> None:
    recording.stiffness[:, 0] = 10.0


def stiff_for(seconds: float) -> Callable[[Recording], None]:
    """Make a joint stiff from the begin of the recording on; the fault comes up to 0.5 s later."""

    def spoil(recording: Recording) -> None:
        recording.stiffness[: round(seconds * 1000), 0] = 10.0

    return spoil


def be_fast(recording: Recording) -> None:
    recording.velocity[5, 0] = 8.0  # twice the limit


def lose_rows(recording: Recording) -> None:
    recording.velocity[-30, 3] = np.nan


@pytest.mark.parametrize(
    ("spoil", "violation_type"),
    [
        (stay_stiff, ViolationType.NEVER_SOFT),
        (be_fast, ViolationType.SPEED),
        (lose_rows, ViolationType.NO_DATA),
    ],
)
def test_finding_of_the_judge_is_a_violation(
    spoil: Callable[[Recording], None], violation_type: ViolationType
) -> None:
    assert violation_types(FakeRobot(spoil=spoil)) == [violation_type]


def spoil_the_end(array: str, value: float) -> Callable[[Recording], None]:
    """Spoil a wrist from 80 to 30 ms before the end of the recording."""

    def spoil(recording: Recording) -> None:
        getattr(recording, array)[-80:-30, PRIME.all.index("left_wrist_roll")] = value

    return spoil


@pytest.mark.parametrize(
    ("array", "value", "violation_type"),
    [
        ("stiffness", 10.0, ViolationType.NEVER_SOFT),
        ("position", 0.05, ViolationType.JUMP),
        ("torque", 40.0, ViolationType.EFFORT),
    ],
)
def test_the_joints_are_judged_on_the_way_back_too(
    array: str, value: float, violation_type: ViolationType
) -> None:
    def spoiled() -> FakeRobot:
        return WaitsForHealth(spoil=spoil_the_end(array, value))

    (found,) = run(spoiled()).violations
    assert (found.type, found.text[:16]) == (violation_type, "on the way back:")
    assert run(spoiled(), replace(KIND, recovery=Recovery.RESTART)).violations == ()
    either = replace(KIND, outcome=Outcome.EITHER)
    assert violation_types(spoiled(), either) == [violation_type]
    stays = replace(KIND, inject=nothing, outcome=Outcome.STAYS, codes=())
    assert violation_types(spoiled(), stays) == []


@dataclass
class WaitsForHealth(FakeRobot):
    """Takes a second to be healthy; only the recording that ends then is spoilt."""

    def _recorded(self) -> Recording:
        whole = self.healthy_calls > 1
        spoil, self.spoil = self.spoil, self.spoil if whole else (lambda _recording: None)
        try:
            return super()._recorded()
        finally:
            self.spoil = spoil

    def healthy(self) -> None:
        super().healthy()
        self.now += 1.0


@pytest.mark.parametrize(
    "kind",
    [KIND, replace(KIND, outcome=Outcome.EITHER), replace(KIND, outcome=Outcome.OFF, watched=1.0)],
    ids=["SOFT", "EITHER that fell", "OFF"],
)
def test_softness_is_demanded_after_a_fall_or_without_torque(kind: Kind) -> None:
    assert violation_types(FakeRobot(spoil=stay_stiff), kind) == [ViolationType.NEVER_SOFT]
    late = replace(kind, watched=2.0)
    assert violation_types(FakeRobot(spoil=stiff_for(1.1)), late) == [ViolationType.SOFT_TOO_LATE]
    assert violation_types(FakeRobot(spoil=stiff_for(1.1)), replace(late, within=1.1)) == []


@dataclass
class FallsLate(FakeObserver):
    """States the fall one second after the fault."""

    robot: Any = None
    begin: float = 0.0  # [s] robot time of the fault

    def within(self, _seconds: float, condition: Callable[[], object]) -> bool:
        self.robot.now = max(self.robot.now, self.begin + 1.0)
        self.message = FALL
        return bool(condition())


@pytest.mark.parametrize(("seconds", "found"), [(1.4, []), (2.3, [ViolationType.SOFT_TOO_LATE])])
def test_allowed_time_counts_from_the_fall_if_a_fall_is_left_to_chance(
    seconds: float, found: list[ViolationType]
) -> None:
    """The robot is stiff for `seconds`; 0.5 s after the fall are allowed."""
    observer = FallsLate()
    robot = FakeRobot(observer, spoil=stiff_for(seconds))
    observer.robot = robot

    def inject(scene: Scene) -> None:
        observer.begin = robot.now

    kind = replace(KIND, inject=inject, outcome=Outcome.EITHER, watched=3.0)
    assert violation_types(robot, kind) == found


class FallsAtTheEnd(FakeObserver):
    """States a fall at the end of the fault."""

    def fresh(self, _seconds: float, _count: int = 3) -> bool:
        self.message = FALL
        return True


@pytest.mark.parametrize(("seconds", "found"), [(3.3, []), (9.0, [ViolationType.NEVER_SOFT])])
def test_the_time_counts_from_a_fall_that_is_received_at_the_end_of_the_wait(
    seconds: float, found: list[ViolationType]
) -> None:
    robot = FakeRobot(FallsAtTheEnd(), spoil=stiff_for(seconds))
    kind = replace(KIND, inject=lambda _scene: None, outcome=Outcome.EITHER, watched=3.0)
    assert violation_types(robot, kind) == found


def test_softness_without_a_fall_is_demanded_where_the_robot_only_stops() -> None:
    stops = replace(KIND, inject=lambda _scene: None, codes=(), outcome=Outcome.STOPS)
    assert violation_types(FakeRobot(spoil=stay_stiff), stops) == [ViolationType.NEVER_SOFT]
    assert violation_types(FakeRobot(), stops) == []


@pytest.mark.parametrize("outcome", [Outcome.SOFT, Outcome.EITHER])
def test_a_joint_that_a_fall_leaves_without_damping_is_convicted(outcome: Outcome) -> None:
    kind = replace(KIND, outcome=outcome)
    (found,) = run(FakeRobot(limp=LIMP), kind).violations
    assert (found.type, found.text) == (
        ViolationType.NOT_DAMPED,
        "left_elbow_pitch: damping 0.00 Nm s/rad",
    )
    for exempt in (
        replace(kind, undamped=lambda _scene: ["left_elbow_pitch"]),
        replace(kind, spared=lambda _scene: ["left_elbow_pitch"]),
        replace(kind, requests_modes=True),
    ):
        assert violation_types(FakeRobot(limp=LIMP), exempt) == []


@pytest.mark.parametrize("outcome", [Outcome.OFF, Outcome.STAYS, Outcome.STOPS])
def test_damping_is_demanded_in_a_fall_alone(outcome: Outcome) -> None:
    inject = falls if outcome is Outcome.OFF else nothing
    kind = replace(KIND, inject=inject, codes=(), outcome=outcome)
    assert violation_types(FakeRobot(limp=LIMP), kind) == []


def test_softness_is_not_demanded_where_nothing_happened() -> None:
    stays = replace(KIND, inject=lambda _scene: None, codes=(), outcome=Outcome.STAYS)
    result = run(FakeRobot(spoil=stay_stiff), stays)
    assert (result.violations, result.expected) == ((), None)


def test_allowed_violation_of_a_kind_is_known() -> None:
    allows = replace(KIND, allowed=(Allowed(ViolationType.SPEED, 2.5, "physics"),))
    result = run(FakeRobot(spoil=be_fast), allows)
    assert (result.violations, [it.type for it in result.known]) == ((), [ViolationType.SPEED])


def test_a_long_trial_is_recorded_to_its_end() -> None:
    assert violation_types(FakeRobot(), replace(KIND, watched=80.0)) == []


def test_a_wrong_cause_is_a_violation() -> None:
    assert violation_types(FakeRobot(), replace(KIND, codes=(UNKNOWN_MODE,))) == [
        ViolationType.WRONG_CAUSE
    ]
    silent = replace(KIND, inject=lambda _scene: None)
    assert ViolationType.NO_FALL in violation_types(FakeRobot(), silent)
    stays = replace(KIND, codes=(), outcome=Outcome.STAYS)
    assert violation_types(FakeRobot(), stays) == [ViolationType.LEFT]


def test_refuted_fault_is_a_violation() -> None:
    def refuted(scene: Scene) -> None:
        falls(scene)
        raise RefutedError("runs twice")

    assert violation_types(FakeRobot(), replace(KIND, inject=refuted)) == [ViolationType.REFUTED]


def test_trial_with_a_fall_before_its_fault_has_not_reached_the_fault() -> None:
    result = run(FakeRobot(FakeObserver(message=FALL)))
    assert [it.type for it in result.violations] == [ViolationType.NOT_REACHED]
    assert (result.verdict, result.expected) == (None, None)


@pytest.mark.parametrize(
    ("outcome", "filed", "killed"),
    [
        (Outcome.OFF, RequiredRecord.END, True),
        (Outcome.OFF, RequiredRecord.FALL, False),
        (Outcome.OFF, RequiredRecord.NOTHING, None),
        (Outcome.EITHER, RequiredRecord.FALL, False),
    ],
)
def test_the_black_box_must_have_kept_all_but_an_ordered_end(
    outcome: Outcome, filed: RequiredRecord, killed: bool | None
) -> None:
    expected = run(FakeRobot(), replace(KIND, outcome=outcome, filed=filed)).expected
    assert (expected and expected.killed) is killed


# Hold-ups count from the mode reached to the end of the window.


def test_a_hold_up_of_the_virtual_robot_counts_only_while_the_fault_may_have_been_its_victim() -> (
    None
):
    """Hold-ups are read before the mode, when it is reached, and at the end."""
    assert run(FakeRobot(gaps=[0.3, 0.2, 0.0])).held_up == 0.0
    assert run(FakeRobot(gaps=[0.0, 0.0, 0.1, 0.4])).held_up == 0.1


def test_the_window_lies_within_the_trial() -> None:
    before = time.monotonic()
    result = run(FakeRobot())
    assert before <= result.begin <= result.end <= time.monotonic()


# The recovery.


def test_a_robot_that_is_not_well_after_the_documented_way_back_is_convicted() -> None:
    robot = FakeRobot(unwell=1)
    assert (violation_types(robot), robot.restarts) == ([ViolationType.NOT_WELL], 1)


def test_a_restart_is_part_of_the_way_back_of_some_kinds() -> None:
    robot = FakeRobot()
    assert (violation_types(robot, replace(KIND, recovery=Recovery.RESTART)), robot.restarts) == (
        [],
        1,
    )


def test_a_process_that_died_before_or_during_the_trial_is_convicted() -> None:
    dead = Ends(deaths=[UnexpectedEnd("control", "exit code -11")])
    assert violation_types(FakeRobot(looks=[dead])) == [ViolationType.DIED]
    assert violation_types(FakeRobot(looks=[Ends(), dead])) == [ViolationType.DIED]
    dies = replace(KIND, dies=("control",))
    assert violation_types(FakeRobot(looks=[Ends(), dead]), dies) == []
    assert violation_types(FakeRobot(looks=[dead, dead]), dies) == [ViolationType.DIED]
    assert (
        violation_types(FakeRobot(looks=[Ends(), Ends(), dead]), dies) == []
    )  # during the mending


def test_ended_processes_are_noted_before_a_restart_replaces_them() -> None:
    robot = FakeRobot()
    seen: list[int] = []
    robot.ends = lambda: seen.append(robot.restarts) or Ends()  # type: ignore[func-returns-value, method-assign]
    run(robot, replace(KIND, recovery=Recovery.RESTART))
    assert seen == [0, 0, 1]


def test_a_traceback_is_convicted_unless_the_kind_raises_it() -> None:
    raised = Ends(exceptions=["control: OrderedFailure: x"])
    assert violation_types(FakeRobot(looks=[Ends(), raised])) == [ViolationType.TRACEBACK]
    orders = replace(KIND, raises="OrderedFailure")
    assert violation_types(FakeRobot(looks=[Ends(), raised]), orders) == []


def test_a_wrong_refusal_of_clear_fault_is_convicted() -> None:
    late = [Refusal(time.monotonic() + 60.0, RESET, SENT)]
    assert violation_types(FakeRobot(refused=[[], late])) == [ViolationType.REFUSED]
    early = [Refusal(time.monotonic() - 60.0, RESET, SENT)]
    assert violation_types(FakeRobot(refused=[early])) == [
        ViolationType.REFUSED
    ]  # no violation yet
    result = run(FakeRobot(refused=[[], early * 3]))
    assert (result.violations, result.refusals) == ((), 3)


@pytest.mark.parametrize(
    ("refusals", "wrong"),
    [
        ([], 0),
        ([Refusal(9.9, RESET, SENT), Refusal(9.99, NO_ANSWER)], 0),
        ([Refusal(10.1, RESET, SENT)], 1),
        ([Refusal(9.9, RESET, SENT), Refusal(10.1, NO_ANSWER), Refusal(11.0, RESET, SENT)], 2),
        ([Refusal(9.9, RESET, ("REQUIRES_SAFE_MODE",))], 1),
        ([Refusal(9.9, RESET)], 1),
    ],
)
def test_a_refusal_is_wrong_if_it_comes_late_or_without_a_reset(
    refusals: list[Refusal], wrong: int
) -> None:
    found = wrong_refusals(refusals, 10.0)
    assert [it.text.partition(" ")[0] for it in found] == ([str(wrong)] if wrong else [])


def test_the_way_back_takes_a_second_or_five_after_a_restart() -> None:
    assert KIND.healed == 1.0
    assert replace(KIND, recovery=Recovery.RESTART).healed == 5.0
    assert replace(KIND, heals=2.0).healed == 2.0


def test_a_kind_that_comes_from_the_seed_is_reported_in_detail() -> None:
    drawing = replace(KIND, name="any of several", drawn=lambda _dice: KIND)
    result = run(FakeRobot(), drawing)
    assert (result.kind, result.detail, result.violations) == ("any of several", "any", ())


def test_a_robot_that_stands_in_the_mode_takes_its_payload_little_by_little() -> None:
    kind = replace(
        KIND, starts=(Start.STANDBY_FINISHED,), inject=nothing, outcome=Outcome.STAYS, codes=()
    )
    seed = next(it for it in range(99) if DrawnTrial.of(kind, it).scenario.payload > 0.3)
    observer = FakeObserver(mode=Mode.STANDBY)
    robot = FakeRobot(observer, stands=Start.STANDBY_FINISHED)
    run(robot, kind, seed)
    loads = robot.loads[:-2]  # of both hands; the last two remove the payload
    assert robot.loads[-2:] == [(robot.loads[-1][0], 0.0)] * 2
    assert loads[-1][1] == DrawnTrial.of(kind, seed).scenario.payload
    assert all(0.0 <= more - less < 0.1 for (_, less), (_, more) in pairwise(loads))
    assert 0.1 < loads[-1][0] - loads[0][0] < 0.3
    assert robot.healthy_calls == 1  # only after the fault: the robot is not led to DAMPING before
