"""The refusals of clear_fault that tests accept, and those that they do not accept."""

from __future__ import annotations

import pytest
from humanoid_control_msgs.msg import SafetyStatus
from humanoid_control_msgs.srv import ClearFault
from test_support.operator import GONE, Clearing

from humanoid_control_common.rules.reason_codes import REQUIRES_ANOTHER_MODE, RESET_SENT
from humanoid_control_common.rules.reasons import ReasonCode

RESET = (
    "reset sent, but PrimeSitoCAN reports FAULT: wrist silent; call again when the fault is gone"
)


class Bench:
    """A clearing, and the statements that are counted for it."""

    def __init__(self) -> None:
        self.statements = 100
        self.clearing = Clearing(lambda: self.statements)
        self.clearing.heard("ring", SafetyStatus.OK)
        self.clearing.heard("bus", SafetyStatus.FAULT)

    def ask(
        self, *, success: bool = False, message: str = RESET, code: ReasonCode = RESET_SENT
    ) -> bool:
        codes = [] if success else [code.name, "SAFETY_SOURCE_FAULT"]
        answer = ClearFault.Response(success=success, message=message, reason_codes=codes)
        return self.clearing.answered(answer, gone=self.clearing.is_gone)

    def pass_statements(self, count: int) -> None:
        self.statements += count


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_refusals_are_counted_while_the_reset_takes_its_time(bench: Bench) -> None:
    for _ in range(3):
        assert not bench.ask()
        bench.pass_statements(GONE)
    bench.clearing.heard("bus", SafetyStatus.WARNING)
    assert not bench.ask(), "the mode manager may not have heard it yet"
    assert bench.ask(success=True, message="faults cleared")
    assert bench.clearing.refusals == [RESET] * 4


def test_a_refusal_after_the_fault_was_gone_is_wrong(bench: Bench) -> None:
    bench.ask()
    bench.clearing.heard("bus", SafetyStatus.OK)
    bench.pass_statements(GONE)
    with pytest.raises(AssertionError, match=r"refused 2 times, .*although every source was well"):
        bench.ask()


def test_a_fault_that_comes_back_may_be_refused_again(bench: Bench) -> None:
    bench.clearing.heard("bus", SafetyStatus.OK)
    bench.pass_statements(GONE)
    bench.clearing.heard("ring", SafetyStatus.CRITICAL)
    assert not bench.ask()
    bench.clearing.heard("ring", SafetyStatus.OK)
    bench.pass_statements(GONE - 1)
    assert not bench.ask()


def test_a_refusal_that_no_reset_clears_is_wrong(bench: Bench) -> None:
    with pytest.raises(AssertionError, match=r"requires DAMPING .*no reset mends that"):
        bench.ask(message="requires DAMPING (currently REMOTE)", code=REQUIRES_ANOTHER_MODE)
