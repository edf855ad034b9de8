"""A block of eRob joints as in a robot description, and a virtual ring."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np
import pytest
from test_support.stepped.stepped_time import RingTime
from test_support.twin.memory_ring import MemoryRing

from humanoid_control_common.robot.joints import JointLimits
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware_component import HardwareInfo, JointInfo
from humanoid_devices_erob.drive.gains import Registers, gains_to_registers
from humanoid_devices_erob.erob_system import ErobSystem
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoResult, SdoStatus
from humanoid_devices_erob.master.master import EthercatMaster
from humanoid_devices_erob.operation.drive_impedance import ImpedanceReport
from humanoid_devices_erob.protocol.objects import (
    FEED_FORWARD,
    GATE_SWITCH,
    POSITION_GAIN,
    VELOCITY_GAIN,
    VELOCITY_INTEGRAL,
)
from humanoid_twin.errors import VethError
from humanoid_twin.testing import Ring, RingOptions, ring

ZEROERR, EROB = "0x5A65726F", "0x00029252"

InfoFactory = Callable[..., HardwareInfo]


@pytest.fixture
def make_info(tmp_path: Path) -> InfoFactory:
    """Builds the block of `joints` drives j0, j1, …, in ring order or at the given `positions`.

    `block` and `joint` replace parameters of the block and of every joint, None leaves one out;
    `calibration`: direction and homing offset [rad] of each joint, identity by default.
    """

    def make(
        joints: int = 10,
        *,
        positions: list[int] | None = None,
        calibration: list[tuple[int, float]] | None = None,
        update_rate: float = 50.0,
        block: dict[str, str | None] | None = None,
        joint: dict[str, str | None] | None = None,
        serials: list[str | None] | None = None,
    ) -> HardwareInfo:
        places = positions or list(range(joints))
        entries = calibration or [(1, 0.0)] * joints
        path = tmp_path / "prime_calibration.yaml"
        path.write_text(
            "".join(
                f"j{i}: {{id: {places[i]}, direction: {d}, homing_offset: {o}}}\n"
                for i, (d, o) in enumerate(entries)
            )
        )
        parameters: dict[str, str | None] = {
            "master_id": "0",
            "interface": "eth0",
            "vendor_id": ZEROERR,
            "product_code": EROB,
            "calibration_file": str(path),
            **(block or {}),
        }

        def of_joint(i: int) -> dict[str, str]:
            all_of_it: dict[str, str | None] = {
                "ring_position": str(places[i]),
                "model": "eRob70_V4_MC2",
                "kt": "0.132e-3",
                "gear": "50",
                "serial_number": serials[i] if serials else None,
                **(joint or {}),
            }
            return {name: text for name, text in all_of_it.items() if text is not None}

        return HardwareInfo(
            name="Side",
            plugin="ethercat_driver/EthercatDriver",
            parameters={name: text for name, text in parameters.items() if text is not None},
            joints=tuple(JointInfo(f"j{i}", of_joint(i), 0.0) for i in range(joints)),
            limits=JointLimits(
                lower=np.full(joints, -3.0),
                upper=np.full(joints, 3.0),
                velocity=np.full(joints, 4.0),
                effort=np.full(joints, 30.0),
            ),
            update_rate=update_rate,
            urdf="<robot/>",
        )

    return make


class Bench:
    """An ErobSystem on a virtual ring, ticked by the test in ring time."""

    def __init__(self, ring: Ring | MemoryRing, make_info: InfoFactory, count: int) -> None:
        self.control, self.interface = ring.control, ring.interface
        self.time: MemoryRing | RingTime
        self._open_master: Callable[[float], EthercatMaster]
        if isinstance(ring, MemoryRing):
            self.time, self._open_master = ring, ring.master
        else:
            self.time, self._open_master = RingTime(ring.control), EthercatMaster
        self.count = count
        self.state, self.command = JointState(count), JointCommand(count)
        self.publishing = True  # joint states, in every tick
        self._make_info = make_info
        self.system = self.new_system()

    def new_system(self, joints: int | None = None, **options: object) -> ErobSystem:
        """A second stack, after the first has died; or the first with other options."""
        options.setdefault("block", {"interface": self.interface})
        info = self._make_info(joints or self.count, **options)
        self.period = 1.0 / info.update_rate
        self.system = ErobSystem(self.time, open_master=self._open_master)
        self.system.on_configure(info)
        return self.system

    def new_master(self) -> EthercatMaster:
        """The master of another program."""
        return self._open_master(0.002)

    def activate(self) -> None:
        self.system.on_activate(self.state)
        self._due = self.time.clock()

    def tick(self, count: int = 1) -> None:
        """Run a period of the control loop."""
        for _ in range(count):
            self.system.read(self.state, self.time.clock(), self.period)
            if self.publishing:
                self.system.joint_states_published(self.time.clock(), self.time.clock())
            self.system.write(self.command, self.time.clock(), self.period)
            self._due = max(self._due + self.period, self.time.clock())
            self._due += self.system.tick_correction()
            self.system.idle_until(self._due)

    def die(self) -> None:
        """End without an exit, as kill -9 does. Then let a second pass."""
        if self.system._bring_up_thread is not None:
            self.system._bring_up_thread.stop()
        self.system._master.close()
        self.control.advance(1.0)

    def write(self, *objects: SdoObject) -> tuple[SdoResult, ...]:
        """Run a batch with the mode and number in force to its end."""
        impedance = self.system._impedance
        batch = SdoBatch(objects, write=True, mode=int(impedance.mode), number=impedance.number)
        return self.finish(self.system.submit(batch))

    def finish(self, future: Future[tuple[SdoResult, ...]]) -> tuple[SdoResult, ...]:
        for _ in range(200):
            if future.done():
                return future.result()
            self.tick()
        raise AssertionError("a batch that never ends")

    def set_gains(self, stiffness: float, damping: float) -> Registers:
        """Write all gains, the gate last, as the impedance manager does."""
        one = gains_to_registers(
            stiffness, damping, torque_constant=np.full(self.count, 0.132e-3), gear=50.0
        )
        objects = [
            SdoObject(slave, *key, value.to_bytes(4, "little", signed=True))
            for slave in range(self.count)
            for key, value in (
                (POSITION_GAIN, 0),
                (VELOCITY_INTEGRAL, 0),
                (VELOCITY_GAIN, int(one.velocity_gain[slave])),
                (POSITION_GAIN, int(one.position_gain[slave])),
                (GATE_SWITCH, 1),
                (FEED_FORWARD, 0),
            )
        ]
        results = self.write(*objects)
        assert {result.status for result in results} == {SdoStatus.DONE}
        return one

    def enter(self, mode: Mode, number: int, stiffness: float, damping: float) -> None:
        """Switch to a mode, with confirmed gains."""
        self.tick()
        self.system.mode_changed(mode, number)
        registers = self.set_gains(stiffness, damping)
        self.state_impedance(registers)
        self.tick()
        assert self.system.impedance_confirmed()

    def state_impedance(self, registers: Registers, **changes: object) -> None:
        impedance = self.system._impedance
        report = ImpedanceReport(
            arrived=self.time.clock(),
            gate_open=True,
            armed=True,
            confirmed=True,
            mode=int(impedance.mode),
            number=impedance.number,
            joint_names=self.system._settings.joint_at,
            registers=registers,
        )
        self.system.impedance_reported(replace(report, **cast(dict[str, Any], changes)))

    def of_drives(self, name: str) -> list[object]:
        return [cast(Mapping[str, object], drive)[name] for drive in self.control.drives()]

    def faults(self) -> list[object]:
        """Return the communication errors that drives have found since the last call."""
        return [line for line in self.control.log() if line[2] == "fault"]


MakeBench = Callable[..., Bench]


@pytest.fixture
def make_bench(make_info: InfoFactory) -> MakeBench:
    """Makes benches on rings in this process; drives turn flywheels or `joints="arms"`."""

    def make(count: int = 10, **options: Any) -> Bench:
        return Bench(MemoryRing(count, **options), make_info, count)

    return make


@pytest.fixture
def make_wire_bench(make_info: InfoFactory) -> Iterator[MakeBench]:
    """The same on rings in processes of their own: by pysoem, sockets and a cable, in ring time.

    At the end active components are shut down as far as possible.
    """
    with ExitStack() as cleanup:

        def make(count: int = 10, **options: Unpack[RingOptions]) -> Bench:
            chosen: RingOptions = {"clock": "stepped", "joints": "bench", **options}
            try:
                entered = ring(count, **chosen)
                bench = Bench(cleanup.enter_context(entered), make_info, count)
            except VethError as error:
                pytest.skip(f"no virtual ring here: {error}")
            assert isinstance(bench.time, RingTime)
            cleanup.callback(bench.time.close)
            cleanup.callback(lambda: bench.system._master.close())  # noqa: PLW0108 - the latest
            cleanup.callback(
                lambda: (
                    bench.system._bring_up_thread is not None
                    and bench.system._bring_up_thread.stop()
                )
            )
            return bench

        yield make


@pytest.fixture(params=["make_bench", "make_wire_bench"], ids=["memory", "wire"])
def make_any_bench(request: pytest.FixtureRequest) -> MakeBench:
    """Both rings one after the other, for the phases of a ring's operation."""
    found: MakeBench = request.getfixturevalue(request.param)
    return found
