"""Every unrequested end of a process and every traceback is reported."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from fault_campaign.judging.process_ends import Ends, violations
from fault_campaign.judging.violation import Violation, ViolationType
from fault_campaign.programs import Program, UnexpectedEnd, deaths_of, exceptions

OBEYS = "import signal; signal.signal(signal.SIGTERM, lambda *_: exit({code})); {then}"
SAY = "print('up', flush=True)"


@pytest.fixture
def program(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Program]:
    """Return a program that runs this text and has begun."""
    made = Program("any", [sys.executable, "-c", request.param], tmp_path, {})
    made.start()
    while "up" not in made.text() and made.runs:
        made.wait(0.02)
    yield made
    made.send(signal.SIGKILL)
    made.wait()


def of(text: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("program", [text], indirect=True)


@of(f"{SAY}; input = __import__('time').sleep(60)")
def test_a_program_that_ends_on_a_signal_has_not_died(program: Program) -> None:
    program.end()
    assert (program.deaths(), program.stuck(), program.runs) == ([], [], False)


@of(OBEYS.format(code=0, then=f"{SAY}; signal.pause()"))
def test_program_that_ends_in_order_on_a_signal_has_not_died(program: Program) -> None:
    program.end()
    assert program.deaths() == []


@of(OBEYS.format(code=3, then=f"{SAY}; signal.pause()"))
def test_an_exit_code_other_than_that_of_an_ordered_end_is_reported(program: Program) -> None:
    program.end()
    assert program.deaths() == [UnexpectedEnd("end of any", "exit code 3")]


@of(f"{SAY}; exit(0)")
def test_a_program_that_ends_by_itself_has_died_whatever_its_code(program: Program) -> None:
    assert program.wait()
    assert program.deaths() == [UnexpectedEnd("any", "exit code 0")]
    assert program.deaths() == []


@of(f"{SAY}; exit(1)")
@pytest.mark.parametrize("then", [Program.start, Program.end])
def test_unexpected_end_is_reported_after_a_restart_or_an_ordered_end(
    program: Program, then: object
) -> None:
    assert program.wait()
    then(program)  # type: ignore[operator]
    assert UnexpectedEnd("any", "exit code 1") in program.deaths()


@of(f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SAY}; signal.pause()")
def test_program_that_has_to_be_killed_is_reported(program: Program) -> None:
    program.end(timeout=0.2)
    assert not program.runs
    (stuck,) = program.stuck()
    assert (stuck.type, program.stuck()) == (ViolationType.DID_NOT_END, [])


@of(f"{SAY}; import logging; logging.raiseExceptions or 1; 1 / 0")
def test_a_traceback_in_the_log_is_reported_once(program: Program) -> None:
    assert program.wait()
    assert program.exceptions() == ["ZeroDivisionError: division by zero"]
    assert program.exceptions() == []


def test_each_traceback_is_reported_by_its_last_line() -> None:
    text = (
        "[ERROR] fell: failed\nTraceback (most recent call last):\n"
        '  File "a.py", line 1, in f\n    raise E("x")\na.E: x\n\n'
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "b.py", line 2\n    g()\nKeyError: 7\n'
        "[INFO] goes on\n"
    )
    assert exceptions(text) == ["a.E: x", "KeyError: 7"]
    assert exceptions("all is well") == []


def test_a_process_that_a_program_has_started_must_not_end_before_it() -> None:
    before = {"control 5": {6, 7}, "box 8": {9}}
    after = {"control 5": {7}, "box 12": set[int]()}
    assert deaths_of(before, after) == [UnexpectedEnd("control's child", "process 6 has ended")]


CHILDREN = """
import os, subprocess, time
children = [subprocess.Popen(["sh", "-c", word]) for word in ("true", "kill -9 $$")]
for child in children:
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
print("up", flush=True)
time.sleep(60)
"""


@of(CHILDREN)
def test_child_that_ended_in_order_is_not_missing(
    program: Program,
) -> None:
    own, *children = program.processes()
    assert len(children) == 1
    assert (Path(f"/proc/{children[0]}/stat")).read_text().split()[-1] == "0"
    assert own not in children


def test_a_process_that_is_replaced_has_not_died() -> None:
    assert deaths_of({"control 5": {6}}, {"control 5": {7}}) == []
    both_gone = deaths_of({"control 5": {6, 7}}, {"control 5": {8}})
    assert both_gone == [UnexpectedEnd("control's child", "process 7 has ended")]


def test_a_guard_that_ended_by_itself_is_reported_like_an_exception() -> None:
    line = "[ERROR] [can]: the guard of slcan:/tmp/can ended with exit code -9"
    assert exceptions(line) == ["the guard of slcan:/tmp/can ended with exit code -9"]


# Ends that are violations.

DEATH = UnexpectedEnd("control", "exit code -9")


def test_a_process_that_died_is_a_violation_unless_the_kind_ends_it() -> None:
    assert violations(Ends()) == []
    found = [Violation(ViolationType.DIED, "control: exit code -9")]
    assert violations(Ends(deaths=[DEATH])) == found
    assert violations(Ends(deaths=[DEATH]), dies=["control"]) == []
    assert violations(
        Ends(deaths=[DEATH, UnexpectedEnd("box", "exit code 1")]), dies=["control"]
    ) == [Violation(ViolationType.DIED, "box: exit code 1")]


def test_an_ordered_end_that_a_drive_refuses_is_no_violation_where_the_kind_breaks_a_drive() -> (
    None
):
    refused = Ends(deaths=[UnexpectedEnd("end of control", "exit code 1")])
    assert len(violations(refused)) == 1
    assert violations(refused, unclean=True) == []
    crashed = Ends(deaths=[UnexpectedEnd("end of control", "exit code -11"), DEATH])
    assert len(violations(crashed, unclean=True)) == 2


def test_process_that_should_have_died_and_did_not_is_a_violation() -> None:
    (found,) = violations(Ends(), dies=["control"])
    assert found.type is ViolationType.DIED


def test_traceback_is_a_violation_unless_the_kind_raises_it() -> None:
    ends = Ends(exceptions=["control: E: ordered", "box: KeyError: 7"])
    assert [it.type for it in violations(ends)] == [ViolationType.TRACEBACK] * 2
    assert violations(ends, raises="E: ordered") == [
        Violation(ViolationType.TRACEBACK, "box: KeyError: 7")
    ]


def test_process_that_had_to_be_killed_is_a_violation() -> None:
    stuck = Violation(ViolationType.DID_NOT_END, "control")
    assert violations(Ends(stuck=[stuck]), dies=[], raises=".") == [stuck]
