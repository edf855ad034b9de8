"""Virtual CAN motors in this process, on stepped time or on the wall clock, for both families."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.joints import JointLimits
from humanoid_control_common.mit_interface import JointCommand, JointState
from humanoid_control_common.safety import SafetyLevel, SafetyReport
from humanoid_controller_manager.hardware_component import HardwareInfo, JointInfo
from src.humanoid_devices.test.stepped import NANO, SteppedAdapter, SteppedTime

LONGEST = 60.0  # [s] of stepped time that a condition is waited for


class CanBench:
    """A virtual bus with motors: on stepped time, or in wall time in a thread of its own.

    Take `lock` before using `plant` while it runs in a thread.
    """

    def __init__(self, family: str, model: str, ids: list[int], port: str, address: str) -> None:
        from humanoid_twin.can.adapters.slcan import SlcanPort
        from humanoid_twin.can.adapters.virtual import VirtualPort
        from humanoid_twin.can.commands import CanCommands
        from humanoid_twin.can.motors.build import CanJoint, build_can
        from humanoid_twin.clock import Moment
        from humanoid_twin.physics.plant import Inertia, SingleInertias
        from humanoid_twin.scheduler import Scheduler

        moment = Moment()
        self.plant = SingleInertias([Inertia(inertia=0.01, viscous=0.01)] * len(ids))
        joints = {id_: CanJoint(index=i, family=family, model=model) for i, id_ in enumerate(ids)}
        self._can = build_can(self.plant, joints, moment)
        ports: dict[str, Callable[..., Any]] = {
            "stepped": SteppedAdapter, "slcan": SlcanPort, "virtual": VirtualPort,
        }  # fmt: skip
        self._port = ports[port](self._can.bus, address)
        self.port, self.address = port, address
        self._commands = CanCommands(self._can, self._port)
        self._world = Scheduler(self.plant, moment)
        self._world.add(self._can)
        self.time = SteppedTime(self._world, [self._can]) if port == "stepped" else None
        if self.time is not None:
            self._port.arrived = self.time.arrived
        self.interface = port if self.time is None else "virtual"
        self.way = () if self.time is None else (self._port.open,)  # instead of python-can
        self.lock, self._stop = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="can bench")

    def __enter__(self) -> CanBench:
        if self.time is not None:
            return self
        # As the control process has it: motors and stack share one interpreter here.
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(0.0005)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.time is not None:
            return
        self._stop.set()
        self._thread.join()
        self._port.close()
        sys.setswitchinterval(self._interval)

    def call(self, name: str, *arguments: object) -> Any:
        """Result of a command of humanoid_twin.can.commands."""
        with self.lock:
            return getattr(self._commands, name)(*arguments)

    def timing(self, timing: Any) -> Any:
        """The same times, and the clock and the workers of this bench."""
        if self.time is None:
            return timing
        return replace(timing, clock=self.time.clock, workers=self.time)

    def heard(self) -> list[tuple[float, int, bytes]]:
        """The frames that get over the bus from now on: time [s], identifier, payload."""
        found: list[tuple[float, int, bytes]] = []
        with self.lock:
            ear = self._can.bus.attach(
                lambda frame, now: found.append((now / NANO, frame.identifier, frame.data))
            )
            ear.set(listens_only=True)
        return found

    def drive(self, id_: int) -> Any:
        """What is true of the motor with an id, the first of two."""
        return next(drive for drive in self.call("drives") if drive["id"] == id_)

    def _run(self) -> None:
        start = time.perf_counter_ns()
        while not self._stop.is_set():
            with self.lock:
                self._port.serve(self._world.now)
                self._world.advance(time.perf_counter_ns() - start)
            self._stop.wait(0.0005)


class CanRig:
    """A hardware component and the loop that runs it, at the pace of `update_rate`."""

    def __init__(self, system: Any, info: HardwareInfo, time: SteppedTime | None = None) -> None:
        self.system, self.time = system, time
        self.level = SafetyLevel.OK  # as it said last
        system.on_configure(info)
        count = len(info.joints)
        self.state, self.command = JointState(count), JointCommand(count)
        self.pause: Callable[[float], Any] = threading.Event().wait if time is None else time.pass_
        self.period = 1.0 / info.update_rate

    def activate(self) -> None:
        """Bring the motors up."""
        self.system.on_activate(self.state)

    def tick(self) -> SafetyReport:
        """One tick of the loop; the report of it."""
        self.system.read(self.state, 0.0, self.period)
        self.system.write(self.command, 0.0, self.period)
        report = self.system.safety()
        self.level = report.level
        return report

    def until(self, condition: Callable[[SafetyReport], Any]) -> SafetyReport:
        """Run the loop until a report fulfils `condition`.

        The limit is pytest's time-out, or a minute of stepped time.
        """
        end = None if self.time is None else self.time.clock() + LONGEST
        while True:
            report = self.tick()
            if condition(report):
                return report
            assert end is None or self.time.clock() < end, report.message
            self.pause(self.period)

    def run(self, seconds: float) -> SafetyReport:
        """Run the loop for so long; the last report."""
        for _ in range(round(seconds / self.period)):
            report = self.tick()
            self.pause(self.period)
        return report

    def deactivate(self) -> None:
        """Bring the motors down."""
        self.system.on_deactivate()


@pytest.fixture
def can_rig() -> Iterator[Callable[..., CanRig]]:
    """Builds rigs, and deactivates at the end those that a test left active.

    Only a component that says that something is wrong may fail to come down.
    """
    rigs: list[CanRig] = []

    def make(system: Any, info: HardwareInfo, time: SteppedTime | None = None) -> CanRig:
        rigs.append(CanRig(system, info, time))
        return rigs[-1]

    yield make
    with ExitStack() as ends:  # all of them, whatever one of them says
        for rig in rigs:
            ends.callback(_come_down, rig)


def _come_down(rig: CanRig) -> None:
    try:
        rig.deactivate()
    except HardwareError:
        if rig.level < SafetyLevel.FAULT:
            raise


@pytest.fixture
def can_bench(tmp_path: Path) -> Iterator[Callable[..., CanBench]]:
    """Starts virtual motors with these ids: `stepped`, or in wall time behind an interface."""
    with ExitStack() as stack:

        def start(family: str, model: str, ids: list[int], port: str = "stepped") -> CanBench:
            address = str(tmp_path / "can") if port == "slcan" else tmp_path.name
            return stack.enter_context(CanBench(family, model, ids, port, address))

        yield start


@pytest.fixture
def can_info(tmp_path: Path) -> Callable[..., HardwareInfo]:
    """Builds the block of joints j0, j1, … with these ids.

    `block` and `joint` replace parameters of the block and of every joint, None leaves one out;
    `calibration`: direction and homing offset [rad] of each joint, identity by default.
    """

    def make(  # noqa: PLR0913
        ids: list[int],
        model: str,
        *,
        interface: str = "virtual",
        channel: str = "nowhere",
        calibration: list[tuple[int, float]] | None = None,
        update_rate: float = 50.0,
        block: dict[str, str | None] | None = None,
        joint: dict[str, str | None] | None = None,
    ) -> HardwareInfo:
        path = tmp_path / "prime_calibration.yaml"
        entries = calibration or [(1, 0.0)] * len(ids)
        path.write_text(
            "".join(
                f"j{i}: {{id: {id_}, direction: {d}, homing_offset: {o}}}\n"
                for i, (id_, (d, o)) in enumerate(zip(ids, entries, strict=True))
            )
        )
        parameters = {
            "interface": interface,
            "channel": channel,
            "calibration_file": str(path),
            **(block or {}),
        }

        def of_joint(id_: int) -> dict[str, str]:
            every = {"can_id": str(id_), "model": model, **(joint or {})}
            return {name: text for name, text in every.items() if text is not None}

        count = len(ids)
        return HardwareInfo(
            name="Wrists",
            plugin="",
            parameters={name: text for name, text in parameters.items() if text is not None},
            joints=tuple(JointInfo(f"j{i}", of_joint(id_), None) for i, id_ in enumerate(ids)),
            limits=JointLimits(
                lower=np.full(count, -2.0),
                upper=np.full(count, 2.0),
                velocity=np.full(count, 4.0),
                effort=np.full(count, 8.0),
            ),
            update_rate=update_rate,
            urdf="<robot/>",
        )

    return make
