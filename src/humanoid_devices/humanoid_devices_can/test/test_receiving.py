"""The receiving thread of a session takes all frames before silence is judged."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from test_support.machine import TestMachine

from humanoid_control_common.machine.machine import Thread
from humanoid_devices_can.bus.bus import AT_ONCE, DataFrame
from humanoid_devices_can.motor_protocol import FamilyKind
from humanoid_devices_can.session.session import Session
from humanoid_devices_can.settings import parse_settings
from humanoid_devices_can.timing import Timing
from src.humanoid_devices.test.can_bench import MakeInfo

if TYPE_CHECKING:
    from src.humanoid_devices.humanoid_devices_can.test.conftest import ScriptedBus

STATUS = 4 << 8


class _NeverRuns:
    """A thread whose work the test does."""

    def is_alive(self) -> bool:
        return True

    def join(self, timeout: float | None = None) -> None:
        pass


class Machine(TestMachine):
    """Its time passes while a thread sleeps."""

    def __init__(self) -> None:
        self.now = 0.0  # [s]
        super().__init__(lambda: self.now)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def start(self, name: str, run: Callable[[], None]) -> Thread:
        return _NeverRuns()


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def bus(plain_bus: type[ScriptedBus], machine: Machine) -> ScriptedBus:
    return plain_bus(machine)


@pytest.fixture
def session(
    bus: ScriptedBus,
    plain: FamilyKind,
    machine: Machine,
    can_info: MakeInfo,
    monkeypatch: pytest.MonkeyPatch,
) -> Session:
    settings = parse_settings(can_info([1, 2], "plain"), {}, {}, extended=True)
    family = plain.build(settings)
    monkeypatch.setattr(family, "feedback_rate", 100.0)
    return Session(bus, family, settings, Timing(), machine, threading.Event())


def status(motor: int) -> DataFrame:
    return DataFrame(STATUS | motor, b"0.5")


@pytest.mark.parametrize("by_the_loop", [True, False])
def test_a_frame_behind_many_of_another_motor_is_a_sign_of_life(
    bus: ScriptedBus, session: Session, machine: Machine, by_the_loop: bool
) -> None:
    machine.now = 1.0  # the receiver, a thread or a fast loop, was held up
    for _ in range(2 * AT_ONCE):
        bus.put(status(1))
    bus.put(status(2))
    if by_the_loop:
        session.receive_here(alone=True)
    else:
        session._receive()
    assert session.silent_for(1) <= 0.0


def test_a_motor_is_silent_however_often_another_one_sends(
    bus: ScriptedBus, session: Session, machine: Machine
) -> None:
    bus.put(status(1))
    bus.put(status(2))
    session._receive()
    for _ in range(200):  # something has arrived at every look
        bus.put(status(1))
        session._receive()
    assert session.silent_for(0) <= 0.0
    assert session.silent_for(1) > 1.0


def test_a_confirmation_of_the_adapter_counts_although_no_frame_has_arrived(
    bus: ScriptedBus, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(bus), "confirmed", 5.0)
    session.receive_here(alone=True)
    assert session.health.confirmed == 5.0
