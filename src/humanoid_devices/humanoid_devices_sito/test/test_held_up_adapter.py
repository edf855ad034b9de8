"""An adapter that is held up while motors are enabled: its delayed frames do not count."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest

from humanoid_control_common.rules.safety import SafetyFlag, SafetyLevel
from humanoid_devices_can.bus.bus import Bus, BusSettings, CanFrame, Received
from humanoid_devices_can.bus.error_frames import ControllerState
from humanoid_devices_can.errors import QueueFullError
from humanoid_devices_can.timing import Timing
from humanoid_devices_sito.codec import MessageType, identifier
from humanoid_devices_sito.sito_system import SitoSystem
from src.humanoid_devices.test.can_bench import CanBench, CanRig, MakeBench, MakeInfo, MakeRig
from src.humanoid_devices.test.stepped import SteppedTime

IDS = [22, 23, 38, 39]
QUICK = Timing(enable_timeout=0.4, enable_retry=0.15, disable_timeout=0.5)
HELD_UP = 0.12  # [s]; longer than the silence by which motors obey


class HeldUpBus(Bus):
    """Stops for HELD_UP after the first RESET. The SELECT_MODE of one motor is lost then."""

    def __init__(self, bus: Bus, time: SteppedTime, losing: int) -> None:
        self._bus, self._time = bus, time
        self._lost = identifier(losing, MessageType.SELECT_MODE)
        self._waiting: deque[CanFrame] = deque()
        self._ends, self._has_lost = -math.inf, False  # [s]

    def receive(self, timeout: float) -> Received | None:
        """See Bus."""
        if self._stands_still():
            if timeout:
                self._time.sleep(timeout)
            return None
        return self._bus.receive(timeout)

    def send(self, frame: CanFrame) -> None:
        """See Bus."""
        if self._ends == -math.inf and frame[0] & 0xFF == MessageType.RESET:
            self._ends = self._time.clock() + HELD_UP
        self._waiting.append(frame)
        self._stands_still()

    def _stands_still(self) -> bool:
        """Return True if it is held up; else send the waiting frames that the controller takes."""
        if self._time.clock() < self._ends:
            return True
        with suppress(QueueFullError):
            while self._waiting:
                if self._waiting[0][0] != self._lost or self._has_lost:
                    self._bus.send(self._waiting[0])
                else:
                    self._has_lost = True
                self._waiting.popleft()
        return False

    def state(self) -> ControllerState:
        """See Bus."""
        return self._bus.state()

    def refused(self) -> int:
        """See Bus."""
        return self._bus.refused()

    def close(self) -> None:
        """See Bus."""
        self._bus.close()


Wrists = Callable[[int], tuple[CanBench, CanRig]]


@pytest.fixture
def wrists(can_bench: MakeBench, can_info: MakeInfo, can_rig: MakeRig) -> Wrists:
    """The four wrists, enabled; the bus is held up when it is opened next, and loses an order."""

    def make(losing: int) -> tuple[CanBench, CanRig]:
        bench = can_bench("sito", "TA40-50", IDS)
        opened: list[Bus] = []

        def open_bus(settings: BusSettings) -> Bus:
            assert bench.time is not None
            bus = bench.host.open_bus(settings)
            opened.append(HeldUpBus(bus, bench.time, losing) if opened else bus)
            return opened[-1]

        block = can_info(IDS, "TA40-50", channel=bench.address)
        system = SitoSystem(QUICK, replace(bench.host, open_bus=open_bus))
        rig = can_rig(system, block, bench.time)
        rig.activate()
        return bench, rig

    return make


@pytest.mark.parametrize("losing", IDS)
def test_feedback_from_before_a_motor_was_disabled_does_not_count_as_enabled(
    wrists: Wrists, losing: int
) -> None:
    bench, rig = wrists(losing)
    bench.call("unplug")  # the motors have no watchdog and continue
    rig.until(lambda report: report.flags & SafetyFlag.BUS_OFF)
    bench.call("plug_in")
    rig.system.reset_faults()
    rig.until(lambda report: report.level is SafetyLevel.OK)
    assert all(bench.drive(id_)["firmware"]["enabled"] for id_ in IDS)
    assert rig.run(1.0).level is SafetyLevel.OK
