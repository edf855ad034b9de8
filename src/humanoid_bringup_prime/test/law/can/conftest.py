"""Virtual CAN motors in this process, and the hardware component that commands them."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from math import pi
from typing import TYPE_CHECKING

import numpy as np
import pytest
from test_support.twin.virtual_can import VirtualPort

from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.hardware_component import HardwareComponent, HardwareInfo
from humanoid_devices_robstride.robstride_system import RobstrideSystem
from humanoid_devices_sito.sito_system import SitoSystem
from humanoid_twin.can.frame import CanFrame
from humanoid_twin.can.motors.build import CanJoint, build_can
from humanoid_twin.clock import SimulatedTime
from humanoid_twin.mounting import Mounting
from humanoid_twin.physics.plant import Inertia, SingleInertias
from humanoid_twin.scheduler import Scheduler

if TYPE_CHECKING:
    from src.humanoid_bringup_prime.test.law.conftest import Row

IDS = [22, 23]
INERTIA = 0.15  # [kg m²], without friction
# The second motor has the other direction and an offset of whole counts of both families.
OFFSET = 1024 * 2 * pi / 65536  # [rad]
MOUNTINGS = [Mounting(), Mounting(direction=-1, offset=OFFSET)]
CALIBRATION = f"""
j0: {{id: 22, direction: 1, homing_offset: 0.0}}
j1: {{id: 23, direction: -1, homing_offset: {OFFSET!r}}}
"""


@dataclass(frozen=True, slots=True)
class Family:
    """Identifiers of a family's frames (actuator documents)."""

    name: str
    system: Callable[[], HardwareComponent]
    kind_and_device: Callable[[int], tuple[int, int]]  # of an identifier
    command: int
    gains: int | None


FAMILIES = {
    "sito": Family("sito", SitoSystem, lambda id_: (id_ & 0xFF, id_ >> 8 & 0xFF), 0x09, 0x45),
    "robstride": Family("robstride", RobstrideSystem, lambda id_: (id_ >> 24, id_ & 0xFF), 1, None),
}


class Listener:
    """Receives the host's frames to the motors and wakes waiting threads."""

    def __init__(self, family: Family) -> None:
        self._family = family
        self._changed = threading.Condition()
        self.commands: Counter[int] = Counter()  # by device
        self.gains: dict[int, bytes] = {}  # the latest, by device

    def receive(self, frame: CanFrame, now: int) -> None:
        kind, device = self._family.kind_and_device(frame.identifier)
        with self._changed:
            if kind == self._family.command:
                self.commands[device] += 1
            elif kind == self._family.gains:
                self.gains[device] = frame.data
            self._changed.notify_all()

    def wait_for(self, condition: Callable[[], bool]) -> None:
        with self._changed:
            self._changed.wait_for(condition)


class Motors:
    """Motors and stack in wall time; during a measurement the test advances the motors' time."""

    def __init__(self, family: Family, model: str, channel: str) -> None:
        simulated_time = SimulatedTime()
        self.family = family
        self.plant = SingleInertias([Inertia(inertia=INERTIA)] * len(IDS))
        self.listener = Listener(family)
        self._can = build_can(
            self.plant,
            {
                id_: CanJoint(index=i, family=family.name, model=model, mounting=MOUNTINGS[i])
                for i, id_ in enumerate(IDS)
            },
            simulated_time,
        )
        self._port = VirtualPort(self._can.bus, channel)
        self._can.bus.attach(self.listener.receive).acknowledges = False
        self._world = Scheduler(self.plant, simulated_time)
        self._world.add(self._can)
        self.lock, self._stop = threading.RLock(), threading.Event()
        self._ahead = 0  # [ns] of the motors' time before wall time
        self._thread = threading.Thread(target=self._run, name="motors")

    def __enter__(self) -> Motors:
        self._interval = sys.getswitchinterval()
        sys.setswitchinterval(0.0005)  # as in the control process
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._port.close()
        sys.setswitchinterval(self._interval)

    def advance(self, seconds: float) -> None:
        """Let the motors' time pass. The caller holds `lock`."""
        self._ahead += round(seconds * 1e9)
        self._world.advance(self._world.now + round(seconds * 1e9))

    def _run(self) -> None:
        start = time.perf_counter_ns()
        while not self._stop.is_set():
            with self.lock:
                self._port.serve(self._world.now)
                self._world.advance(time.perf_counter_ns() - start + self._ahead)
            self._stop.wait(0.0005)


class MotorJoints:
    """The joints of the bench: see Specimens."""

    settling = 1.5

    def __init__(self, motors: Motors) -> None:
        self._motors, self._plant = motors, motors.plant
        self.undisturbed = motors.lock

    def torque_at(self, position: float, velocity: float) -> FloatArray:
        with self._motors.lock:
            self.place(position, velocity)
            self._motors.advance(0.001)
            self.place(0.0, 0.0)
            return self._plant.torque.copy()

    def place(self, position: float, velocity: float) -> None:
        with self._motors.lock:
            for joint in range(len(IDS)):
                self._plant.set_state(joint, position, velocity)

    def load(self, torque: float) -> None:
        with self._motors.lock:
            for joint in range(len(IDS)):
                self._plant.set_external_torque(joint, torque)

    def run(self, seconds: float) -> tuple[FloatArray, FloatArray]:
        states = []
        with self._motors.lock:
            for _ in range(round(seconds / 0.02)):
                self._motors.advance(0.02)
                states.append((self._plant.position.copy(), self._plant.velocity.copy()))
        positions, velocities = np.moveaxis(np.array(states), 1, 0)
        return positions, velocities


class Rig:
    """The component on the bench, active."""

    def __init__(self, motors: Motors, info: HardwareInfo) -> None:
        self._motors, self._listener = motors, motors.listener
        self.system = motors.family.system()
        self.system.on_configure(info)
        self._state, self._command = JointState(len(IDS)), JointCommand(len(IDS))
        self._period = 1.0 / info.update_rate
        self.joints = MotorJoints(motors)
        self.system.on_activate(self._state)

    def command(self, row: Row) -> None:
        """Send the motors a command with all gains."""
        listener, gains = self._listener, dict(self._listener.gains)
        both = (row.stiffness, row.damping)
        change = both != (self._command.stiffness[0], self._command.damping[0])
        row.fill(self._command)
        # The first frames may have been sent before.
        for _ in range(3):
            self._tick()
        if change and self._motors.family.gains is not None:
            listener.wait_for(lambda: all(listener.gains.get(i) != gains.get(i) for i in IDS))

    def _tick(self) -> None:
        commands = self._listener.commands
        before = Counter(commands)
        self.system.read(self._state, 0.0, self._period)
        self.system.write(self._command, 0.0, self._period)
        self._listener.wait_for(lambda: all(commands[id_] > before[id_] for id_ in IDS))


@pytest.fixture(scope="session")
def make_rig(
    tmp_path_factory: pytest.TempPathFactory, block_info: Callable[..., HardwareInfo]
) -> Callable[..., AbstractContextManager[Rig]]:
    """Make rigs with two motors, and close them after the test."""

    @contextmanager
    def make(family: str, model: str, **joint: str) -> Iterator[Rig]:
        folder = tmp_path_factory.mktemp(family)
        calibration = folder / "calibration.yaml"
        calibration.write_text(CALIBRATION)
        block = {
            "interface": "virtual",
            "channel": str(folder),
            "calibration_file": str(calibration),
        }
        joints = [{"can_id": str(id_), "model": model, **joint} for id_ in IDS]
        with Motors(FAMILIES[family], model, str(folder)) as motors:
            rig = Rig(motors, block_info(block, joints))
            try:
                yield rig
            finally:
                rig.system.on_deactivate()

    return make
