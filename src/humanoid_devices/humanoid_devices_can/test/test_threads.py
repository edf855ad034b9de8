"""The cases of test_engine.py with threads, as on the robot."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import pytest

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.machine.realtime import COMPANION_PRIORITY, LOOP_PRIORITY
from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel
from humanoid_devices_can.bus.bus import Bus, BusSettings
from humanoid_devices_can.host import CanHost
from humanoid_devices_can.motor_protocol import FamilyKind
from humanoid_devices_can.timing import Timing
from src.humanoid_devices.test.can_bench import CanRig, MakeInfo, MakeRig, system_of

if TYPE_CHECKING:
    from src.humanoid_devices.humanoid_devices_can.test.conftest import ScriptedBus

COMMAND, GAINS, DISABLE, ENABLE, STATUS = range(5)


def healthy(report) -> bool:
    return report.level is SafetyLevel.OK


def kinds(bus, motor: int) -> list[int]:
    return [found >> 8 for found, _ in list(bus.sent) if found & 0xFF == motor]


@pytest.fixture
def bus(plain_bus: type[ScriptedBus]) -> ScriptedBus:
    return plain_bus()


@pytest.fixture
def rig(
    bus: ScriptedBus, plain: FamilyKind, quick: Timing, can_info: MakeInfo, can_rig: MakeRig
) -> CanRig:
    def open_bus(settings: BusSettings) -> Bus:
        return made.open_bus(settings)  # as it is then

    system = system_of(plain)(quick, CanHost(open_bus=open_bus))
    made = can_rig(system, can_info([1, 2], "plain"))
    made.buses.append(bus)
    return made


def test_motors_are_enabled_commanded_and_disabled(bus, rig) -> None:
    rig.activate()
    assert ENABLE in kinds(bus, 2)
    rig.command.stiffness[:] = 3.0
    rig.until(lambda _: (GAINS << 8 | 2, b"3.00") in list(bus.sent))
    rig.until(healthy)
    rig.deactivate()
    assert kinds(bus, 1)[-1] == kinds(bus, 2)[-1] == DISABLE
    assert bus.closed
    names = {thread.name for thread in threading.enumerate()}
    assert not names & {"can receive", "can send", "can reset"}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_mistake_in_a_thread_is_a_fault(bus, rig) -> None:
    rig.activate()
    receiver = next(it for it in threading.enumerate() if it.name == "can receive")
    bus.broken = ZeroDivisionError("ours")
    receiver.join()  # before the loop finds it
    report = rig.until(lambda report: report.level is SafetyLevel.FAULT)
    assert "the thread that serves the bus failed: ZeroDivisionError" in report.message
    with pytest.raises(HardwareError, match="not disabled"):
        rig.deactivate()


def test_reopening_thread_does_not_have_the_priority_of_the_loop(bus, rig) -> None:
    rig.activate()
    bus.unplug()
    rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
    found, fresh = [], bus.another()

    def open_bus(_):
        found.append(os.sched_getparam(0).sched_priority)
        return fresh

    def loop() -> None:
        try:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(LOOP_PRIORITY))
        except PermissionError:
            found.append(None)
        rig.system.reset_faults()

    rig.open_bus = open_bus
    thread = threading.Thread(target=loop)
    thread.start()
    thread.join()
    rig.until(healthy)
    if None in found:
        pytest.skip("no real-time priority is permitted here")
    assert found == [COMPANION_PRIORITY]
