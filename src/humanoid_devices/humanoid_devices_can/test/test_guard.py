"""Decisions and actions of the guard without processes; tests of the Sito motors use real ones."""

from __future__ import annotations

import errno
import logging
import os
import socket
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.machine.linux import LINUX
from humanoid_devices_can.bus.bus import (
    Bus,
    BusSettings,
    DataFrame,
    ErrorFrame,
    InvalidFrame,
    Received,
)
from humanoid_devices_can.bus.error_frames import BusEvent, ControllerState
from humanoid_devices_can.errors import AdapterLostError, InterfaceError, QueueFullError
from humanoid_devices_can.guard import guard_client, stall_detection
from humanoid_devices_can.guard.__main__ import Pipe
from humanoid_devices_can.guard.channel import (
    GOOD_BYE,
    MEMORY_BYTES,
    GuardedMotor,
    GuardJob,
    GuardMemory,
    Stage,
)
from humanoid_devices_can.guard.claim import claim
from humanoid_devices_can.guard.disabled_proof import DisabledProof
from humanoid_devices_can.guard.disabling import disable_motors
from humanoid_devices_can.guard.guard_client import Guard, disabling_frames, needs_guard
from humanoid_devices_can.guard.guard_process import GuardProcess
from humanoid_devices_can.guard.stall_detection import LEAST_CHECKS, StallDetector, guard
from humanoid_devices_can.host import CanHost

CHECK_PERIOD = 0.02
BUS = BusSettings("slcan", "/dev/ttyACM0", 1_000_000, {"sleep_after_open": 0.5})
FRAMES = ((0x050616_45, bytes(8)), (0x050616_00, b"\x55" * 8))
FEEDBACK = DataFrame(0x050616_B1, bytes(8))
PROOF = DisabledProof((FEEDBACK.identifier, 0x050616_B2))
JOB = GuardJob(BUS, (GuardedMotor("j0 (id 22)", PROOF),), FRAMES, 0.2)


def checks(detector: StallDetector, fed: float, start: float, end: float) -> list[bool]:
    return [detector.stands_still(fed, now) for now in np.arange(start, end, CHECK_PERIOD)]


def test_loop_that_goes_on_is_left_alone() -> None:
    detector = StallDetector(0.2)
    assert not any(detector.stands_still(1.0 + i, i * CHECK_PERIOD) for i in range(1000))


def test_pause_that_is_shorter_is_no_failure() -> None:
    detector = StallDetector(0.2)
    assert not any(checks(detector, 5.0, 0.0, 0.2))
    assert not any(checks(detector, 6.0, 0.2, 0.4))


def test_loop_that_stops_is_detected_soon_after_the_time_it_has() -> None:
    seen = checks(StallDetector(0.2), 5.0, 0.0, 1.0)
    assert seen.index(True) * CHECK_PERIOD <= 0.2 + 2 * CHECK_PERIOD
    assert all(seen[seen.index(True) :])


@pytest.mark.parametrize("before", [0.0, 7.0], ids=["not begun", "ended in order"])
def test_loop_that_is_not_running_can_not_stand_still(before: float) -> None:
    detector = StallDetector(0.2)
    checks(detector, before, 0.0, 0.1)
    assert not any(checks(detector, 0.0, 0.1, 5.0))


def test_loop_that_runs_again_after_it_ended_in_order_is_left_alone() -> None:
    detector = StallDetector(0.2)
    checks(detector, 1000.0, 0.0, 0.1)
    checks(detector, 0.0, 0.1, 5.0)
    assert not any(detector.stands_still(1.0 + i, 5.0 + i * CHECK_PERIOD) for i in range(100))


def test_stall_is_detected_only_after_several_checks_behind_a_hold_up() -> None:
    detector = StallDetector(0.2)
    detector.stands_still(5.0, 0.0)
    late = [detector.stands_still(5.0, 3.0 + i * CHECK_PERIOD) for i in range(LEAST_CHECKS + 2)]
    assert late.index(True) == LEAST_CHECKS - 1  # the check before the hold-up counts


def test_encoded_guard_job_is_decoded_to_the_same_job() -> None:
    line = JOB.encode(7)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert GuardJob.decode(line) == (JOB, 7)


def test_loop_and_guard_share_one_memory() -> None:
    common = bytearray(MEMORY_BYTES)
    ours, theirs = GuardMemory(common), GuardMemory(common)
    ours.feed()
    ours.feed()
    theirs.mark_alive(3.5)
    assert (theirs.fed, ours.alive_at, ours.stage) == (2.0, 3.5, Stage.WATCHES)
    theirs.set_stage(Stage.ACTS, 4.5)
    ours.stop_feeding()
    assert (theirs.fed, ours.alive_at, ours.stage) == (0.0, 4.5, Stage.ACTS)


class Guarded:
    """The parts of a control process that its guard reads."""

    def __init__(self) -> None:
        reader, self.writer = os.pipe()
        self.end = Pipe(reader)
        self.memory = GuardMemory(bytearray(MEMORY_BYTES))

    def watch(self, timeout: float = 0.2) -> str:
        return stall_detection._watch(self.memory, StallDetector(timeout), self.end, LINUX.clock)


class SteppedClock:
    """Waiting advances time at once; reading the clock takes 10 µs. See ControlProcess."""

    last: bytes | None = None

    def __init__(self) -> None:
        self.now = 100.0  # [s]

    def __call__(self) -> float:
        self.now += 1e-5
        return self.now

    def wait(self, seconds: float) -> None:
        self.now += seconds


def disabled(
    job: GuardJob,
    motors: object,
    clock: SteppedClock | None = None,
    memory: GuardMemory | None = None,
    **options: Any,
) -> str:
    """Let the guard disable the motors; return the error that it reports."""
    clock, memory = clock or SteppedClock(), memory or GuardMemory(bytearray(MEMORY_BYTES))
    return disable_motors(job, memory, clock, motors, clock, **options)


def test_end_message_ends_the_guard_without_a_frame() -> None:
    guarded = Guarded()
    os.write(guarded.writer, GOOD_BYE)
    assert guarded.watch() == ""


def test_control_process_that_ends_without_an_end_message_is_gone_at_once() -> None:
    guarded = Guarded()
    os.close(guarded.writer)
    assert guarded.watch(timeout=1000.0) == stall_detection.IS_GONE


def test_loop_that_is_not_fed_any_more_stands_still() -> None:
    guarded = Guarded()
    guarded.memory.feed()
    assert guarded.watch(timeout=0.05) == stall_detection.STANDS_STILL
    assert guarded.memory.alive_at > 0.0


class Motors(Bus):
    """A bus whose motors send until they have received `deaf` + 1 rounds of frames.

    `noise` is a frame that comes without a pause.
    """

    def __init__(
        self, deaf: int = 0, refusals: int = 0, closed: int = 0, noise: Received | None = None
    ) -> None:
        self.deaf, self.refusals, self.closed, self.noise = deaf, refusals, closed, noise
        self.sent: list[tuple[int, bytes]] = []
        self.open = 0

    def __call__(self, settings: BusSettings) -> Motors:
        assert settings == BUS
        if self.closed:
            self.closed -= 1
            raise InterfaceError("not yet")
        self.open += 1
        return self

    def send(self, frame: tuple[int, bytes]) -> None:
        if self.refusals:
            self.refusals -= 1
            raise QueueFullError("full")
        self.sent.append(frame)

    def receive(self, timeout: float) -> Received | None:
        sends = len(self.sent) <= self.deaf * len(FRAMES)
        return FEEDBACK if sends else self.noise

    def close(self) -> None:
        self.open -= 1


def test_every_motor_is_reported_several_times() -> None:
    motors = Motors()
    assert disabled(JOB, motors) == ""
    assert motors.sent == [*FRAMES] * 3
    assert motors.open == 0


def test_motor_that_still_sends_is_reported_again() -> None:
    motors = Motors(deaf=5)
    assert disabled(JOB, motors) == ""
    assert len(motors.sent) == 6 * len(FRAMES)


@pytest.mark.parametrize(
    "noise",
    [
        ErrorFrame(BusEvent.PROTOCOL, bytes(8)),
        InvalidFrame("standard"),
        DataFrame(0x050617_B1, bytes(8)),  # of another motor
        DataFrame(0x050616_09, bytes(8)),  # of another host
    ],
)
def test_frames_of_others_without_a_pause_are_not_those_of_a_motor(noise: Received) -> None:
    motors = Motors(deaf=5, noise=noise)
    assert disabled(JOB, motors) == ""
    assert len(motors.sent) == 6 * len(FRAMES)


class HeldUp(SteppedClock):
    """The machine holds the guard up at some of its `points`, 0.2 s each."""

    def __init__(self, points: set[int]) -> None:
        super().__init__()
        self._points, self._point = points, 0

    def __call__(self) -> float:
        self.pass_point()
        return super().__call__()

    def pass_point(self) -> None:
        self.now += 0.2 if self._point in self._points else 0.0
        self._point += 1


class Queueing(Motors):
    """Its motors send every 10 ms while they are deaf; their frames wait until they are read.

    A frame of another sender comes 5 ms before each of them.
    """

    def __init__(self, clock: HeldUp, deaf: int) -> None:
        super().__init__(deaf=deaf)
        self._clock, self._next = clock, clock.now
        self._frames = cycle((DataFrame(0x050617_B1, bytes(8)), FEEDBACK))

    def receive(self, timeout: float) -> Received | None:
        self._clock.pass_point()
        waits = self._next <= self._clock.now and len(self.sent) <= self.deaf * len(FRAMES)
        if waits:
            self._next += 0.005
        self._clock.pass_point()
        return next(self._frames) if waits else None


HOLD_UPS = st.sets(st.integers(0, 1200), max_size=12)


@given(HOLD_UPS)
def test_a_guard_that_is_held_up_calls_no_motor_disabled_that_sends(points: set[int]) -> None:
    clock = HeldUp(points)
    problem = disabled(JOB, Queueing(clock, deaf=10**9), clock, longest=1.0)
    assert problem == "j0 (id 22): it still sends"


@given(HOLD_UPS)
def test_a_guard_that_is_held_up_finds_the_motors_disabled_later(points: set[int]) -> None:
    clock = HeldUp(points)
    assert disabled(JOB, Queueing(clock, deaf=2), clock) == ""


class Confirming(Motors):
    """Its adapter confirms what it was given `held_up` [s] ago."""

    def __init__(self, clock: SteppedClock, held_up: float) -> None:
        super().__init__()
        self._clock, self._held_up = clock, held_up

    def set_confirming(self, on: bool) -> bool:
        return True

    def ask(self) -> bool:
        self.confirmed = self._clock.now - self._held_up
        return True


def test_motors_are_disabled_once_the_adapter_has_confirmed_their_silence() -> None:
    clock = SteppedClock()
    began = clock.now
    motors = Confirming(clock, held_up=0.5)
    memory = GuardMemory(bytearray(MEMORY_BYTES))
    assert disable_motors(JOB, memory, clock, motors, clock) == ""
    assert 0.55 < clock.now - began < 0.7


def test_silence_on_a_bus_that_is_off_proves_nothing() -> None:
    class Off(Motors):
        def state(self) -> ControllerState:
            return ControllerState.OFF

    assert disabled(JOB, Off()) == f"{BUS}: bus-off"


def test_silence_behind_an_adapter_that_is_held_up_proves_nothing() -> None:
    clock = SteppedClock()
    motors = Confirming(clock, held_up=9.0)
    memory = GuardMemory(bytearray(MEMORY_BYTES))
    problem = disable_motors(JOB, memory, clock, motors, clock)
    assert problem == f"{BUS}: the adapter is held up"


def test_an_adapter_that_has_confirmed_before_must_confirm_again() -> None:
    clock = SteppedClock()
    memory = GuardMemory(bytearray(MEMORY_BYTES))
    job = replace(JOB, confirms=True)  # held up at its opening already
    problem = disable_motors(job, memory, clock, Motors(), clock)
    assert problem == f"{BUS}: the adapter is held up"


ANSWERING = replace(
    JOB, motors=(GuardedMotor("j0", DisabledProof(answer=(0xFFC000FF, 0x02000016))),)
)


@pytest.mark.parametrize(
    ("answer", "is_disabled"),
    [
        (DataFrame(0x0205FD16, bytes(8)), True),
        (DataFrame(0x0285FD16, bytes(8)), False),  # enabled
        (DataFrame(0x0205FD17, bytes(8)), False),  # of another motor
        (None, False),
    ],
    ids=["disabled", "enabled", "another", "none"],
)
def test_a_motor_that_only_answers_must_confirm_that_it_is_disabled(
    answer: Received | None, is_disabled: bool
) -> None:
    problem = disabled(ANSWERING, Motors(noise=answer), longest=1.0)
    assert problem == ("" if is_disabled else "j0: no answer that it is disabled")


def test_a_motor_that_has_stopped_answering_is_not_called_disabled() -> None:
    class Stops(Motors):
        def receive(self, timeout: float) -> Received | None:
            answers = len(self.sent) < 2 * len(FRAMES)  # of three rounds
            return DataFrame(0x02000016, bytes(8)) if answers else None

    assert "no answer" in disabled(ANSWERING, Stops(), longest=1.0)


@pytest.mark.parametrize("cable", [True, False], ids=["plugged in", "cut"])
def test_after_a_wait_for_the_adapter_only_motors_that_sent_before_are_proved_disabled(
    cable: bool,
) -> None:
    memory = GuardMemory(bytearray(MEMORY_BYTES))
    motors = Motors(deaf=0 if cable else -1, closed=1)
    assert disabled(JOB, motors, memory=memory) == ""
    assert memory.waited
    assert memory.has_proved(0) is cable


def test_a_guard_gives_up_its_attempts_when_its_control_process_is_back() -> None:
    clock, begun = SteppedClock(), SteppedClock().now
    clock.last = GOOD_BYE
    assert disabled(JOB, Motors(closed=10**9), clock) == "not yet"
    assert clock.now - begun < 0.1
    clock.last = b""  # the guard has ended: no other program disables the motors
    disabled(JOB, Motors(closed=10**9), clock)
    assert clock.now - begun > 3.0


def test_full_queue_and_closed_adapter_are_tried_again() -> None:
    motors = Motors(refusals=3, closed=2)
    assert disabled(JOB, motors) == ""
    assert motors.sent == [*FRAMES] * 3


@pytest.mark.parametrize(
    ("motors", "message"),
    [
        (Motors(deaf=10**9), "still sends"),
        (Motors(refusals=10**9), "full"),
        (Motors(closed=10**9), "not yet"),
    ],
)
def test_motors_that_cannot_be_disabled_are_reported(motors: Motors, message: str) -> None:
    assert message in disabled(JOB, motors, longest=0.1)
    assert motors.open == 0


def test_motors_that_go_on_speaking_are_given_up_after_three_seconds() -> None:
    clock = SteppedClock()
    begun = clock.now
    assert "still sends" in disabled(JOB, Motors(deaf=10**9), clock)
    assert 3.0 <= clock.now - begun < 3.2


def test_full_queue_is_emptied_by_listening_to_the_adapter() -> None:
    motors = Motors()
    full = True
    send, receive = motors.send, motors.receive

    def refuse(frame: tuple[int, bytes]) -> None:
        if full:
            raise QueueFullError("full")
        send(frame)

    def listen(timeout: float) -> Received | None:
        nonlocal full
        full = False
        return receive(timeout)

    motors.send, motors.receive = refuse, listen
    memory = GuardMemory(bytearray(MEMORY_BYTES))
    assert disabled(JOB, motors, memory=memory) == ""
    assert motors.sent == [*FRAMES] * 3
    assert not memory.waited  # the first attempt was the last


def test_adapter_that_is_lost_meanwhile_is_opened_again() -> None:
    motors = Motors()
    answers = iter([AdapterLostError("gone")])

    def receive(timeout: float) -> Received | None:
        for error in answers:
            raise error
        return None

    motors.receive = receive
    assert disabled(JOB, motors) == ""
    assert motors.open == 0


def guard_with(motors: object, guarded: Guarded) -> int:
    return guard(JOB, guarded.memory, guarded.end, motors, LINUX.clock)


def test_memory_shows_that_the_guard_acts_and_then_that_the_motors_are_disabled() -> None:
    guarded, motors, seen = Guarded(), Motors(), []

    def opened(settings: BusSettings) -> Motors:
        seen.append(guarded.memory.stage)
        return motors(settings)

    os.close(guarded.writer)
    assert guard_with(opened, guarded) == 0
    assert seen == [Stage.ACTS]
    assert guarded.memory.stage is Stage.DONE


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A guard with short limits of its attempts."""
    monkeypatch.setattr(stall_detection, "disable_motors", partial(disable_motors, longest=0.3))


@pytest.mark.usefixtures("short")
def test_memory_shows_that_the_motors_could_not_be_disabled() -> None:
    guarded = Guarded()
    os.close(guarded.writer)
    assert guard_with(Motors(deaf=10**9), guarded) == 1
    assert guarded.memory.stage is Stage.FAILED


def test_memory_shows_a_guard_that_ends_by_an_error() -> None:
    guarded = Guarded()
    os.close(guarded.writer)

    def mistaken(_: BusSettings) -> Motors:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        guard_with(mistaken, guarded)
    assert guarded.memory.stage is Stage.FAILED


@pytest.mark.usefixtures("short")
def test_guard_that_failed_goes_on_until_the_adapter_is_free_or_the_loop_is_back() -> None:
    guarded, stages = Guarded(), []
    guarded.memory.feed()

    def taken(settings: BusSettings) -> Motors:
        stages.append(guarded.memory.stage)
        if len(stages) == 2:
            os.write(guarded.writer, GOOD_BYE)
        raise InterfaceError("another program uses it")

    assert guard_with(taken, guarded) == 0
    assert set(stages) == {Stage.ACTS}
    assert guarded.memory.stage is Stage.FAILED
    guarded.end.last = None  # another guard
    guarded.memory.feed()
    assert guard_with(Motors(), guarded) == 0
    assert guarded.memory.stage is Stage.DONE


def test_bus_belongs_to_one_control_process_and_its_guard(tmp_path) -> None:
    bus = BusSettings("slcan", str(tmp_path / "can"), 1_000_000)
    first = claim(bus, LINUX)
    guards_copy = socket.socket(fileno=os.dup(first.fileno()))
    first.close()
    with pytest.raises(InterfaceError, match="another process drives its motors already"):
        claim(bus, LINUX, timeout=0.05)
    guards_copy.close()
    claim(bus, LINUX, timeout=0.05).close()


def test_a_network_interface_is_the_same_wherever_a_process_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus = BusSettings("socketcan", f"hc{os.getpid()}", 1_000_000)
    with closing(claim(bus, LINUX)):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(InterfaceError, match="another process"):
            claim(bus, LINUX, timeout=0.05)


def guard_by(*command: str) -> Guard:
    """The control process's part of a guard that `command` starts."""
    return Guard(JOB, CanHost(start_guard=partial(GuardProcess, command=command)))


def test_guard_that_can_not_be_started_is_reported() -> None:
    guard = guard_by("/nowhere/python")
    guard.start()
    assert "no guard on slcan /dev/ttyACM0 (it can't be started" in guard.problem().text
    assert "j0 (id 22) continue with their last set point" in guard.problem().text
    guard.dismiss()


@pytest.mark.parametrize(
    ("ends", "logged"),
    [
        ("kill -9 $$", [(logging.ERROR, f"the guard of {BUS} ended with exit code -9")]),
        ("cat >/dev/null", []),
    ],
    ids=["killed", "in order"],
)
def test_guard_that_did_not_end_in_order_is_reported(
    caplog: pytest.LogCaptureFixture, ends: str, logged: list[tuple[int, str]]
) -> None:
    guard = guard_by("sh", "-c", ends)
    guard.start()
    guard.end()
    assert [(it.levelno, it.message) for it in caplog.records] == logged


def test_guard_that_is_not_ready_to_end_when_it_is_not_needed_has_not_failed(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("humanoid_devices_can.guard.guard_process.PARTING", 0.0)
    guard = guard_by("sleep", "60")
    guard.start()
    guard.end()
    assert [it.levelno for it in caplog.records] == [logging.WARNING]


def test_guard_that_can_share_no_memory_is_reported_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    monkeypatch.setattr(os, "memfd_create", refuse)
    guard = Guard(JOB, CanHost())
    guard.start()
    assert "(it can't be started: [Errno 24]" in guard.problem().text
    guard.dismiss()


def test_guard_that_is_not_there_in_time_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard_client, "READY", 0.05)
    guard = guard_by("/bin/cat")
    guard.start()
    while not guard.problem():
        os.sched_yield()
    assert guard.problem().text.startswith(
        "no guard on slcan /dev/ttyACM0 (it did not start within"
    )
    guard.dismiss()


def test_client_without_a_guard_process_reports_no_problem() -> None:
    guard = Guard(JOB, CanHost())
    guard.feed()
    guard.stop_feeding()
    assert guard.stage is Stage.WATCHES
    assert not guard.problem()
    guard.dismiss()


def test_only_motors_without_a_watchdog_on_a_bus_of_all_processes_are_guarded(rig) -> None:
    system = rig.system
    settings = replace(system._settings, bus=BUS)
    family = system._family
    assert needs_guard(settings, family)
    assert not needs_guard(replace(settings, guard_timeout=0.0), family)
    assert not needs_guard(system._settings, family)  # virtual
    family.watchdog = np.array([0.2, 0.2])
    assert not needs_guard(settings, family)


def test_guard_orders_every_motor_to_be_limp_and_disabled(rig) -> None:
    frames = disabling_frames(rig.system._family)
    assert frames == (
        (0x201, b""),
        (0x202, b""),
        (0x101, b"0.00"),
        (0x102, b"0.00"),
        (0x001, b"0.00"),
        (0x002, b"0.00"),
    )
