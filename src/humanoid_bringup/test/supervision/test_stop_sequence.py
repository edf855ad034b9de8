import math
from dataclasses import dataclass, field
from signal import SIGINT, SIGKILL, SIGTERM, Signals

import pytest

from humanoid_bringup.supervision.supervisor import StopSequence, StopTimeouts
from humanoid_control_common.ending_times import END_AT_ONCE, END_IN_ORDER

TIMEOUTS = StopTimeouts(after_interrupt=5.0, after_terminate=3.0)


@dataclass
class Fake:
    label: str
    ends_on: Signals | None = SIGINT
    catching: frozenset[Signals] = frozenset({SIGINT, SIGTERM})
    running: bool = True
    outlives: bool = False
    required: bool = False
    got: list[Signals] = field(default_factory=list)

    def catches(self, number: Signals) -> bool:
        return number in self.catching

    def send(self, number: Signals) -> None:
        assert self.running, "signalled after its end"
        self.got.append(number)
        if number in {self.ends_on, SIGKILL}:
            self.running = False


@pytest.fixture
def messages() -> list[str]:
    return []


def sequence(messages: list[str], *processes: Fake) -> StopSequence:
    return StopSequence(processes, TIMEOUTS, messages.append)


def test_a_needed_process_ends_after_its_dependants(messages: list[str]) -> None:
    viewer, control = Fake("viewer", ends_on=None), Fake("control", ends_on=None)
    manager = Fake("impedance", ends_on=None, outlives=True)
    robot = Fake("robot", outlives=True)
    processes = (viewer, control, manager, robot)
    stop = sequence(messages, *processes)
    stop.advance(0.0)
    assert [it.got for it in processes] == [[SIGINT], [SIGINT], [], []], (
        "a viewer delays no process"
    )
    viewer.running = control.running = False
    stop.advance(1.0)
    assert (manager.got, robot.got) == ([SIGINT], [])
    manager.running = False
    stop.advance(2.0)
    assert robot.got == [SIGINT]
    assert messages == []


def test_process_that_does_not_end_gets_sigterm_and_then_sigkill(messages: list[str]) -> None:
    stubborn = Fake("viewer", ends_on=SIGKILL)
    stop = sequence(messages, stubborn)
    for now, expected in [
        (0.0, [SIGINT]),
        (4.9, [SIGINT]),
        (5.0, [SIGINT, SIGTERM]),
        (7.9, [SIGINT, SIGTERM]),
        (8.0, [SIGINT, SIGTERM, SIGKILL]),
    ]:
        stop.advance(now)
        assert stubborn.got == expected
    assert messages == [
        "viewer has not ended: sending SIGTERM",
        "viewer has not ended: sending SIGKILL",
    ]


def test_the_deadline_is_when_the_next_signal_is_due(messages: list[str]) -> None:
    process = Fake("control", ends_on=None)
    stop = sequence(messages, process)
    assert stop.deadline == -math.inf
    stop.advance(10.0)
    assert stop.deadline == 15.0
    stop.advance(15.0)
    assert stop.deadline == 18.0
    process.running = False
    assert stop.deadline == math.inf


def test_a_program_that_does_not_catch_sigint_yet_gets_sigterm(messages: list[str]) -> None:
    starting = Fake("control", ends_on=SIGTERM, catching=frozenset())
    sequence(messages, starting).advance(0.0)
    assert starting.got == [SIGTERM]
    assert messages == []


def test_a_further_signal_waits_only_for_processes_that_need_another(messages: list[str]) -> None:
    viewer, control = Fake("viewer", ends_on=None), Fake("control", ends_on=None)
    robot = Fake("robot", outlives=True)
    stop = sequence(messages, viewer, control, robot)
    stop.advance(0.0)
    stop.hasten(1.0)
    assert viewer.got == control.got == [SIGINT, SIGTERM]
    assert robot.got == [], "the drives need it to be disabled"
    stop.hasten(1.5)
    assert viewer.got[-1] is control.got[-1] is SIGKILL
    stop.advance(1.6)
    assert robot.got == [SIGINT]


def test_repeated_interrupt_does_not_kill_the_control_process_before_its_timeout(
    messages: list[str],
) -> None:
    viewer, control = Fake("viewer", ends_on=None), Fake("control", ends_on=None, required=True)
    stop = sequence(messages, viewer, control)
    stop.advance(0.0)
    for now in (1.0, 1.5, 2.0):
        stop.hasten(now)
    assert (viewer.got[-1], control.got) == (SIGKILL, [SIGINT, SIGTERM])
    assert messages[-1] == "control is ending, for 2 s more at most"
    stop.advance(3.9)
    assert control.got == [SIGINT, SIGTERM]
    stop.advance(4.0)
    assert control.got == [SIGINT, SIGTERM, SIGKILL]


class Slow(Fake):
    """Processes of a robot, each step of which takes its longest time."""

    ends_at = math.inf  # [s]
    now = 0.0

    def send(self, number: Signals) -> None:
        super().send(number)
        if number is SIGINT:
            self.ends_at = self.now + END_IN_ORDER
        elif number is SIGTERM and len(self.got) == 1:
            self.ends_at = self.now + END_AT_ONCE
        # A process that has removed the torque by then does not begin again at SIGTERM.


@pytest.mark.parametrize("hastened_at", [None, 0.0, 5.0])
def test_a_robot_whose_every_step_takes_its_full_time_is_not_killed(
    messages: list[str], hastened_at: float | None
) -> None:
    robot = Slow("control", ends_on=None, required=True)
    stop = StopSequence([robot], StopTimeouts(), messages.append)
    for tick in range(1000):
        robot.now = now = tick * 0.1
        if now >= robot.ends_at:
            robot.running = False
        stop.advance(now)
        if hastened_at is not None and now >= hastened_at:
            stop.hasten(now)
            # Then the torque is removed at once.
            robot.ends_at = min(robot.ends_at, hastened_at + END_AT_ONCE - 0.1)
    assert not robot.running
    assert SIGKILL not in robot.got


def test_a_process_in_order_is_never_signalled_after_its_end(messages: list[str]) -> None:
    processes = [Fake("a"), Fake("b", ends_on=SIGTERM), Fake("c")]
    stop = sequence(messages, *processes)
    for now in range(20):
        stop.advance(float(now))
    stop.hasten(20.0)
    assert [process.got for process in processes] == [[SIGINT], [SIGINT, SIGTERM], [SIGINT]]
