"""Virtual CAN motors in this process, and the component that drives them."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from math import inf
from typing import Any, Final, Protocol

from test_support.twin.virtual_can import VirtualPort

from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.safety import SafetyLevel, SafetyReport
from humanoid_controller_manager.hardware_component import HardwareInfo
from humanoid_devices_can.bus.bus import Bus, OpenBus
from humanoid_devices_can.can_system import CanSystem
from humanoid_devices_can.host import CanHost
from humanoid_devices_can.motor_protocol import FamilyKind
from humanoid_stepped.scheduler import NANO
from humanoid_stepped.stepped_machine import BOOT
from humanoid_stepped.wires.can import MemoryAdapter
from humanoid_twin.can.adapters.slcan import SlcanPort
from humanoid_twin.can.bus import VirtualCanBus
from humanoid_twin.can.commands import CanCommands
from humanoid_twin.can.motors.build import CanJoint, build_can
from humanoid_twin.can.motors.motor import MotorReport
from humanoid_twin.clock import SimulatedTime
from humanoid_twin.physics.plant import Inertia, SingleInertias
from humanoid_twin.scheduler import Scheduler
from src.humanoid_devices.test.stepped import LONGEST, CanWorld, Result, SteppedTime, stepped_host

PORTS: Final[dict[str, Callable[[VirtualCanBus, str], SlcanPort | VirtualPort]]] = {
    "slcan": SlcanPort,
    "virtual": VirtualPort,
}


def system_of(family: FamilyKind) -> type[CanSystem]:
    """Return a component of a made-up family."""

    class System(CanSystem):
        kind = family

    return System


class MakeBench(Protocol):
    """See can_bench."""

    def __call__(
        self, family: str, model: str, ids: list[int], port: str = "stepped"
    ) -> CanBench: ...


class MakeRig(Protocol):
    """See can_rig."""

    def __call__(
        self, system: CanSystem, info: HardwareInfo, time: SteppedTime | None = None
    ) -> CanRig: ...


class MakeInfo(Protocol):
    """See can_info."""

    def __call__(
        self,
        ids: list[int],
        model: str,
        *,
        interface: str = "virtual",
        channel: str = "nowhere",
        calibration: list[tuple[int, float]] | None = None,
        update_rate: float = 50.0,
        block: dict[str, str | None] | None = None,
        joint: dict[str, str | None] | None = None,
    ) -> HardwareInfo: ...


class CanBench:
    """A virtual bus with motors: on stepped time, or in wall time in a thread of its own.

    Take `lock` before a use of `plant` while it runs in a thread.
    """

    def __init__(self, family: str, model: str, ids: list[int], port: str, address: str) -> None:
        simulated_time = SimulatedTime()
        self.plant = SingleInertias([Inertia(inertia=0.01, viscous=0.01)] * len(ids))
        joints = {id_: CanJoint(index=i, family=family, model=model) for i, id_ in enumerate(ids)}
        self._can = build_can(self.plant, joints, simulated_time)
        self.port, self.address, self.interface = port, address, port
        self._world = Scheduler(self.plant, simulated_time)
        self._world.add(self._can)
        self.time: SteppedTime | None = None
        self.host = CanHost()
        self._port: MemoryAdapter | SlcanPort | VirtualPort
        if port == "stepped":
            self.interface = "virtual"  # for which no guard is started
            self.time = SteppedTime(CanWorld(self._world))
            self._port = MemoryAdapter(self._can.bus, self._world.halt)
            self.host = stepped_host(self.time, self._port)
        else:
            self._port = PORTS[port](self._can.bus, address)
        self._commands = CanCommands(self._can, self._port)
        self.lock, self._stop = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="can bench")

    def __enter__(self) -> CanBench:
        if self.time is not None:
            return self
        # As in the control process: motors and stack share one interpreter here.
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(0.0005)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.time is not None:
            return
        assert not isinstance(self._port, MemoryAdapter)
        self._stop.set()
        self._thread.join()
        self._port.close()
        sys.setswitchinterval(self._interval)

    def call(self, name: str, *arguments: object) -> Any:
        """Result of a command of humanoid_twin.can.commands."""
        with self.lock:
            return getattr(self._commands, name)(*arguments)

    def heard(self) -> list[tuple[float, int, bytes]]:
        """Record the later frames on the bus: stepped time [s], identifier, payload."""
        found: list[tuple[float, int, bytes]] = []
        with self.lock:
            ear = self._can.bus.attach(
                lambda frame, now: found.append(((now + BOOT) / NANO, frame.identifier, frame.data))
            )
            ear.set(listens_only=True)
        return found

    def drive(self, id_: int) -> MotorReport:
        """Return the true state of the motor with an id, the first of two."""
        with self.lock:
            drives = self._commands.drives()
        return next(drive for drive in drives if drive["id"] == id_)

    def hold_up(self, seconds: float) -> None:
        """Stop the control process, not its guard, for a time [s]."""
        assert self.time is not None
        self.time.process.held_until = self.time.scheduler.now + round(seconds * NANO)
        self.time.pass_(seconds)

    def _run(self) -> None:
        assert not isinstance(self._port, MemoryAdapter)
        start = time.perf_counter_ns()
        while not self._stop.is_set():
            with self.lock:
                self._port.serve(self._world.now)
                self._world.advance(time.perf_counter_ns() - start)
            self._stop.wait(0.0005)


class CanRig:
    """A hardware component and the loop that runs it, at the pace of `update_rate`."""

    def __init__(
        self, system: CanSystem, info: HardwareInfo, time: SteppedTime | None = None
    ) -> None:
        self.system, self.time = system, time
        # Scripted buses of tests: the latest is opened next.
        self.buses: list[Bus] = []
        self.open_bus: OpenBus = lambda _: self.buses[-1]
        self.level = SafetyLevel.OK  # of its latest report
        system.on_configure(info)
        count = len(info.joints)
        self.state, self.command = JointState(count), JointCommand(count)
        self.pause = threading.Event().wait if time is None else time.pass_
        self.period = 1.0 / info.update_rate

    def activate(self) -> None:
        """Bring the motors up."""
        self.call(lambda: self.system.on_activate(self.state))

    def tick(self) -> SafetyReport:
        """Run one tick of the loop; return its report."""
        return self.call(self._tick)

    def _tick(self) -> SafetyReport:
        self.system.read(self.state, 0.0, self.period)
        self.system.write(self.command, 0.0, self.period)
        report = self.system.safety()
        self.level = report.level
        return report

    def until(self, condition: Callable[[SafetyReport], object]) -> SafetyReport:
        """Run the loop until a report fulfils `condition`.

        The limit is pytest's time-out, or a minute of stepped time.
        """
        time = self.time
        end = inf if time is None else time.clock() + LONGEST
        while True:
            report = self.tick()
            if condition(report):
                return report
            assert time is None or time.clock() < end, report.message
            self.pause(self.period)

    def run(self, seconds: float) -> SafetyReport:
        """Run the loop for a time [s]; return the last report."""
        for _ in range(round(seconds / self.period)):
            report = self.tick()
            self.pause(self.period)
        return report

    def deactivate(self) -> None:
        """Bring the motors down."""
        self.call(self.system.on_deactivate)

    def call(self, function: Callable[[], Result]) -> Result:
        """Call `function` in the loop's thread."""
        return function() if self.time is None else self.time.call(function)
