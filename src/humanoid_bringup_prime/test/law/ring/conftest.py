"""Two eRob drives on a virtual ring whose time only tests advance, and their component.

Both transmissions leave 0.7 of the torque. The gains of the second drive allow for that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from typing import TYPE_CHECKING, Final

import numpy as np
import pytest
from test_support.twin.memory_ring import MemoryRing

from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware_component import HardwareInfo
from humanoid_devices_erob.drive.gains import (
    JointRegisters,
    Registers,
    encode_register,
    write_order,
)
from humanoid_devices_erob.erob_system import ErobSystem
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.operation.drive_impedance import ImpedanceReport

if TYPE_CHECKING:
    from src.humanoid_bringup_prime.test.law.conftest import Row

DRIVES: Final = 2
INERTIA: Final = 0.30  # [kg m²] of the first two flywheels of the virtual ring's bench
STEP: Final = 0.001  # [s] of the drives' loops
JOINT: Final = {"model": "eRob70_V4_MC2", "kt": "0.132e-3", "gear": "50"}
GATE: Final = (0x2383, 0)
FEED_FORWARD: Final = (0x2382, 3)


class RingJoints:
    """The joints of the ring: see Specimens."""

    settling = 3.0
    undisturbed = nullcontext()

    def __init__(self, rig: RingRig) -> None:
        self._rig, self._control = rig, rig.control

    def torque_at(self, position: float, velocity: float) -> FloatArray:
        """Measure by the acceleration of the flywheels in one step of the drives in that state."""
        self._rig.tick()
        self.place(position, velocity)
        self._control.advance(STEP)
        gained: FloatArray = self._state()[1] - velocity
        self.place(0.0, 0.0)
        torque: FloatArray = INERTIA * gained / STEP
        return torque

    def place(self, position: float, velocity: float) -> None:
        for slave in range(DRIVES):
            self._control.set_joint(slave, position, velocity)

    def load(self, torque: float) -> None:
        for slave in range(DRIVES):
            self._control.external_torque(slave, torque)

    def run(self, seconds: float) -> tuple[FloatArray, FloatArray]:
        states = []
        for _ in range(round(seconds / self._rig.period)):
            self._rig.tick()
            states.append(self._state())
        positions, velocities = np.moveaxis(np.array(states), 1, 0)
        return positions, velocities

    def _state(self) -> FloatArray:
        """Positions and velocities, shape (2, joints)."""
        return np.array(
            [(d["joint_position"], d["joint_velocity"]) for d in self._control.drives()]
        ).T


class RingRig:
    """An ErobSystem on the ring, ticked by the test, and the writes of the impedance manager."""

    def __init__(self, ring: MemoryRing, info: HardwareInfo) -> None:
        self.control, self._time, self.period = ring.control, ring, 1.0 / info.update_rate
        self._names = info.joint_set.names
        self.system = ErobSystem(ring, open_master=ring.master)
        self.system.on_configure(info)
        self._state, self.sent = JointState(DRIVES), JointCommand(DRIVES)
        self.system.on_activate(self._state)
        self._due = ring.clock()
        self._switch = 0
        self.joints = RingJoints(self)

    def tick(self, count: int = 1) -> None:
        clock = self._time.clock
        for _ in range(count):
            self.system.read(self._state, clock(), self.period)
            self.system.joint_states_published(clock(), clock())
            self.system.write(self.sent, clock(), self.period)
            self._due = max(self._due + self.period, clock()) + self.system.tick_correction()
            self.system.idle_until(self._due)

    def command(self, row: Row, mode: Mode, registers: Sequence[JointRegisters]) -> None:
        """Switch to a mode with these gains, then send the drives a command."""
        self.tick()
        self._switch += 1
        self.system.mode_changed(mode, self._switch)
        self._write(mode, registers)
        self._state_impedance(mode, registers)
        row.fill(self.sent)
        self.tick(50)  # a target that followed its joint returns no faster than 1 rad/s
        assert self.system.impedance_confirmed()

    def _write(self, mode: Mode, registers: Sequence[JointRegisters]) -> None:
        objects = [
            SdoObject(slave, *place, data)
            for slave, wanted in enumerate(registers)
            for place, data in (
                *((w.key, encode_register(w.value, 4)) for w in write_order(None, wanted)),
                (GATE, (1).to_bytes(4, "little")),
                (FEED_FORWARD, bytes(4)),
            )
        ]
        batch = SdoBatch(tuple(objects), write=True, mode=int(mode), number=self._switch)
        results = self._finish(self.system.submit(batch))
        assert {result.status for result in results} == {SdoStatus.DONE}

    def _finish(self, future: Future[tuple[SdoResult, ...]]) -> tuple[SdoResult, ...]:
        for _ in range(200):
            if future.done():
                return future.result()
            self.tick()
        raise AssertionError("a batch that never ends")

    def _state_impedance(self, mode: Mode, registers: Sequence[JointRegisters]) -> None:
        columns = np.array(
            [(r.position_gain, r.velocity_gain, r.velocity_integral) for r in registers]
        ).T
        report = ImpedanceReport(
            arrived=self._time.clock(),
            gate_open=True,
            armed=True,
            confirmed=True,
            mode=int(mode),
            number=self._switch,
            joint_names=self._names,
            registers=Registers(*columns),
        )
        self.system.impedance_reported(report)


@pytest.fixture(scope="module")
def rig(
    tmp_path_factory: pytest.TempPathFactory, block_info: Callable[..., HardwareInfo]
) -> Iterator[RingRig]:
    """Both drives in operation."""
    calibration = tmp_path_factory.mktemp("ring") / "calibration.yaml"
    calibration.write_text(
        "".join(f"j{i}: {{id: {i}, direction: 1, homing_offset: 0.0}}\n" for i in range(DRIVES))
    )
    ring = MemoryRing(DRIVES)
    block = {
        "master_id": "0",
        "interface": ring.interface,
        "vendor_id": "0x5A65726F",
        "product_code": "0x00029252",
        "calibration_file": str(calibration),
    }
    joints = [{**JOINT, "ring_position": str(i)} for i in range(DRIVES)]
    made = RingRig(ring, block_info(block, joints))
    yield made
    made.system.on_deactivate()
