"""Messages of the robot are compared with the demands of a kind, without a robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, field, replace

import pytest
from fault_campaign.judging.message_check import MessageCheck
from fault_campaign.judging.violation import ViolationType
from fault_campaign.kinds.kind import JOINT as JOINT_STRUCK
from fault_campaign.kinds.kind import Kind, Outcome, nothing
from humanoid_control_msgs.msg import ControlMode, SafetyStatus

from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reason_codes import UNKNOWN_MODE
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel
from humanoid_controller_manager.reason_codes import INVALID_COMMAND
from humanoid_devices_can.reason_codes import RX_TIMEOUT

SOFT = Kind(
    name="any",
    inject=nothing,
    source="PrimeSitoCAN",
    flags=SafetyFlag.RX_TIMEOUT | SafetyFlag.MOTOR_FAULT,
    codes=(RX_TIMEOUT,),
    named=(JOINT_STRUCK,),
)
EITHER = replace(SOFT, outcome=Outcome.EITHER)
STAYS = Kind(name="any", inject=nothing, outcome=Outcome.STAYS)
STOPS = replace(STAYS, outcome=Outcome.STOPS)
JOINT = "left_wrist_roll"
FALL = f"Fell to safety: PrimeSitoCAN reports FAULT: {JOINT} silent"


FELL = ("FELL_TO_SAFETY", "SAFETY_SOURCE_FAULT", "RX_TIMEOUT")


def report(text: str = f"{JOINT} (id 22)", **other: int | str | list[str]) -> SafetyStatus:
    content: dict[str, int | str | list[str]] = {
        "reason_codes": ["RX_TIMEOUT"],
        "source": "PrimeSitoCAN",
        "level": int(SafetyLevel.FAULT),
        "flags": int(SafetyFlag.RX_TIMEOUT | SafetyFlag.MOTOR_FAULT),
    }
    return SafetyStatus(message=text, **{**content, **other})


@dataclass
class Observed:
    """An observer with a fixed list of messages."""

    mode: Mode = Mode.DAMPING
    message: str = FALL
    codes: Sequence[str] = FELL
    safety: list[SafetyStatus] = field(default_factory=lambda: [report()])
    speaks: bool = True
    obeys: bool = False  # requests for STANDBY
    earlier: Sequence[ControlMode] = ()  # statements
    number: int = 0  # of the switch to its mode
    diagnosed: Sequence[str] | None = None  # codes; None: those stated

    @property
    def diagnosed_fall(self) -> Set[str]:
        return frozenset(self.codes if self.diagnosed is None else self.diagnosed)

    @property
    def now(self) -> ControlMode:
        return ControlMode(
            mode=int(self.mode),
            status_message=self.message,
            reason_codes=list(self.codes),
            switch_number=self.number,
        )

    @property
    def statements(self) -> list[ControlMode]:
        return [*self.earlier, self.now]

    def within(self, _seconds: float, condition: Callable[[], object]) -> bool:
        return bool(condition())

    def fresh(self, _seconds: float, _count: int = 3) -> bool:
        return self.speaks

    def request(self, mode: int) -> None:
        if self.obeys:
            self.mode = Mode(mode)


def violation_types(
    observer: Observed, kind: Kind = SOFT, before: Mode = Mode.STANDBY
) -> list[ViolationType]:
    heard = MessageCheck(observer, kind, before, JOINT)
    return [it.type for it in (*heard.listen(), *heard.conclude())]


def test_a_fall_for_the_right_cause_is_right() -> None:
    assert violation_types(Observed()) == []
    assert violation_types(Observed(), EITHER) == []


def test_a_mode_that_is_stated_before_the_reason_of_its_fall_is_a_violation() -> None:
    standby = ControlMode(mode=int(Mode.STANDBY), switch_number=2)
    assert violation_types(Observed(number=3, earlier=[standby])) == []
    early = [standby, ControlMode(mode=int(Mode.DAMPING), switch_number=3)]
    assert violation_types(Observed(number=3, earlier=early)) == [ViolationType.WRONG_CAUSE]
    # DAMPING has no reason if it was in force before, or may have been requested.
    assert violation_types(Observed(number=3, earlier=early), before=Mode.DAMPING) == []
    requests = replace(SOFT, requests_modes=True)
    assert violation_types(Observed(number=3, earlier=early), requests) == []


@pytest.mark.parametrize("codes", [(), FELL[1:], (*FELL, "JOINT_TOO_FAST")])
def test_a_fall_that_is_not_diagnosed_with_its_codes_is_a_violation(codes: Sequence[str]) -> None:
    observed = Observed(diagnosed=codes)
    assert violation_types(observed) == [ViolationType.NOT_DIAGNOSED]


@pytest.mark.parametrize("kind", [SOFT, EITHER])
def test_a_refusal_that_repeats_the_fall_states_it(kind: Kind) -> None:
    """The second fault is a request: its refusal replaces the statement of the fall."""
    assert violation_types(Observed(codes=("START_LOCOMOTION_REFUSED", *FELL)), kind) == []
    other = Observed(message="Fell to safety", codes=("LOAD_REFUSED", "REQUIRES_ANOTHER_MODE"))
    assert violation_types(other, SOFT)[0] == ViolationType.NO_FALL


def test_codes_and_names_decide_and_no_texts_of_the_robot() -> None:
    """The texts differ; only the names of source and joint stay in them."""
    strange = Observed(message="PrimeSitoCAN x", safety=[report(f"y {JOINT} z")])
    assert violation_types(strange) == []
    uncoded = Observed(safety=[report(reason_codes=["TEMPERATURE_LIMIT"])])
    assert violation_types(uncoded) == [ViolationType.WRONG_CAUSE]


@pytest.mark.parametrize("observer", [Observed(mode=Mode.STANDBY), Observed(codes=())])
def test_without_a_fall_that_is_stated_a_soft_kind_is_violated(observer: Observed) -> None:
    assert ViolationType.NO_FALL in violation_types(observer)


@pytest.mark.parametrize(
    "observer",
    [
        Observed(safety=[]),
        Observed(safety=[report("right_wrist_roll (id 38)")]),
        Observed(safety=[report(level=int(SafetyLevel.WARNING))]),
        Observed(safety=[report(flags=int(SafetyFlag.MOTOR_FAULT))]),
        Observed(safety=[report(source="PrimeEtherCATSide")]),
        Observed(message="Fell to safety: control loop late", codes=("FELL_TO_SAFETY",)),
    ],
    ids=["none", "another joint", "a warning", "another flag", "another source", "statement"],
)
@pytest.mark.parametrize("kind", [SOFT, EITHER])
def test_a_fall_for_another_cause_is_wrong(observer: Observed, kind: Kind) -> None:
    assert violation_types(observer, kind) == [ViolationType.WRONG_CAUSE]


def test_without_a_source_the_cause_is_that_of_the_statement() -> None:
    kind = Kind(name="any", inject=nothing, codes=(INVALID_COMMAND,), named=(JOINT_STRUCK,))
    codes = ("FELL_TO_SAFETY", "INVALID_COMMAND")
    fell = Observed(message=f"Fell to safety: remote: {JOINT} is NaN", codes=codes, safety=[])
    assert violation_types(fell, kind) == []
    fell.message = "Fell to safety: remote: right_wrist_roll is NaN"
    assert violation_types(fell, kind) == [ViolationType.WRONG_CAUSE]


@pytest.mark.parametrize("kind", [SOFT, EITHER])
def test_a_robot_that_goes_up_again_on_request_is_convicted(kind: Kind) -> None:
    assert violation_types(Observed(obeys=True), kind) == [ViolationType.UP_AGAIN]


@pytest.mark.parametrize("kind", [SOFT, EITHER, STAYS, STOPS])
def test_a_robot_that_publishes_nothing_any_more_is_convicted(kind: Kind) -> None:
    assert ViolationType.SILENT in violation_types(Observed(speaks=False), kind)


def test_drives_that_disable_themselves_need_no_report() -> None:
    off = Kind(name="any", inject=nothing, outcome=Outcome.OFF)
    assert violation_types(Observed(speaks=False, codes=()), off) == []


@pytest.mark.parametrize("kind", [STAYS, STOPS, EITHER])
def test_a_mode_that_is_left_without_a_fall_is_reported(kind: Kind) -> None:
    assert violation_types(Observed(Mode.STANDBY, "", ()), kind) == []
    assert violation_types(Observed(Mode.DAMPING, "", ()), kind) == [ViolationType.LEFT]
    assert (
        violation_types(Observed(Mode.DAMPING, "", ()), replace(EITHER, requests_modes=True)) == []
    )


def test_a_fall_from_damping_counts_where_nothing_may_happen() -> None:
    assert violation_types(Observed(), STAYS, Mode.DAMPING) == [ViolationType.LEFT]


def test_missing_refusal_with_the_demanded_code_is_a_violation() -> None:
    kind = replace(STAYS, codes=(UNKNOWN_MODE,))
    assert violation_types(Observed(Mode.STANDBY, "any", ("UNKNOWN_MODE",)), kind) == []
    assert violation_types(Observed(Mode.STANDBY, "", ()), kind) == [ViolationType.WRONG_CAUSE]
