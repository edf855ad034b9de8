"""A limp joint on the virtual ring: moved by hand, while the others hold and are read the same."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from humanoid_bringup_prime.calibration.limp import LimpDrives
from humanoid_bringup_prime.calibration.robot import Drive
from humanoid_bringup_prime.impedance.gate import JointStatesGate
from humanoid_bringup_prime.impedance.values import Batch, Reply, Wish
from humanoid_control_common.joints import JointLimits
from humanoid_control_common.modes import Mode
from humanoid_control_common.surface import JointCommand, JointState
from humanoid_controller_manager.hardware import HardwareInfo, JointInfo
from humanoid_devices_erob.erob_system import ErobSystem
from humanoid_devices_erob.sdo import SdoBatch
from humanoid_devices_erob.timebase import Timebase
from humanoid_twin.ethercat.control import RingControl
from humanoid_twin.ethercat.veth import VethError
from humanoid_twin.testing import Ring, ring

COUNT = 3
NAMES = [f"j{i}" for i in range(COUNT)]
RATE = 50.0  # [Hz]
RAD = 524288 / (2 * np.pi)  # counts


class RingTime:
    """Ring time: sleeping is what lets it pass. For several threads."""

    def __init__(self, path: str) -> None:
        self._lock = threading.Lock()
        self._control = RingControl(path)
        self.close = self._control.close

    def clock(self) -> float:
        with self._lock:
            return self._control.time()

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self._control.advance(max(seconds, 1e-6))  # ring time is whole nanoseconds

    def wait(self, event: threading.Event, seconds: float) -> None:
        if not event.is_set():
            self.sleep(seconds)


class RingBench:
    """ErobSystem and LimpDrives on a ring, ticked by hand in ring time; no ROS between them."""

    def __init__(self, virtual: Ring, time: RingTime, calibration: Path) -> None:
        self.control, self._time = virtual.control, time
        self.system = ErobSystem(Timebase(time.clock, time.sleep, time.wait), realtime=False)
        self.system.on_configure(_block(virtual.interface, calibration))
        self.state, self.command = JointState(COUNT), JointCommand(COUNT)
        drives = [Drive(name, slave, 56) for slave, name in enumerate(NAMES)]
        self.limp = LimpDrives(drives, JointStatesGate(NAMES, 1 / RATE), patience=1.0)
        self.system.on_activate(self.state)
        self.system.mode_changed(Mode.ZERO_TORQUE, 1)
        self._due = time.clock()

    def run(self, seconds: float) -> RingBench:
        for _ in range(round(seconds * RATE)):
            self._tick()
        return self

    def _tick(self) -> None:
        clock, system = self._time.clock, self.system
        system.read(self.state, clock(), 1 / RATE)
        self.limp.joints_seen(NAMES, self.state.position.tolist(), clock())
        batch = self.limp.next_batch(clock(), Wish(Mode.ZERO_TORQUE, 1), "")
        if batch is not None:
            self._send(batch)
        system.write(self.command, clock(), 1 / RATE)
        self._due = max(self._due + 1 / RATE, clock()) + system.tick_correction()
        system.idle_until(self._due)

    def _send(self, batch: Batch) -> None:
        until = batch.sent + batch.valid_for
        mode, number = int(batch.wish.mode), batch.wish.number
        job = SdoBatch(batch.objects, batch.write, mode, number, until)
        future = self.system.submit(job)
        future.add_done_callback(
            lambda done: self.limp.finished(batch, Reply(done.result()), self._time.clock())
        )

    def rows(self) -> list[tuple[int, ...]]:
        return [
            (drive["pos_reg"], drive["vel_reg"], drive["integral"], drive["gate"])
            for drive in self.control.drives()
        ]

    def positions(self) -> np.ndarray:
        return np.array([drive["joint_position"] for drive in self.control.drives()])


def _block(interface: str, calibration: Path) -> HardwareInfo:
    calibration.write_text(
        "".join(f"j{i}: {{id: {i}, direction: -1, homing_offset: 0.5}}\n" for i in range(COUNT))
    )
    facts = {"model": "eRob70_V4_MC2", "kt": "0.132e-3", "gear": "50"}
    ones = np.ones(COUNT)
    return HardwareInfo(
        name="Ring",
        plugin="ethercat_driver/EthercatDriver",
        parameters={
            "master_id": "0",
            "interface": interface,
            "vendor_id": "0x5A65726F",
            "product_code": "0x00029252",
            "calibration_file": str(calibration),
        },
        joints=tuple(
            JointInfo(name, {**facts, "ring_position": str(i)}, None)
            for i, name in enumerate(NAMES)
        ),
        limits=JointLimits(-3 * ones, 3 * ones, 4 * ones, 30 * ones),
        update_rate=RATE,
        urdf="<robot/>",
    )


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[RingBench]:
    with ExitStack() as cleanup:
        try:
            virtual = cleanup.enter_context(ring(COUNT, clock="stepped", joints="arms"))
        except VethError as error:
            pytest.skip(f"no virtual ring here: {error}")
        time = RingTime(virtual.control._path)
        cleanup.callback(time.close)
        made = RingBench(virtual, time, tmp_path / "calibration.yaml")
        cleanup.callback(made.system.on_deactivate)
        yield made


def test_a_limp_joint_follows_the_hand_and_the_others_hardly_give_way(bench: RingBench) -> None:
    factory = bench.run(0.1).rows()
    bench.limp.select("j1")
    bench.run(0.4)
    assert bench.limp.limp == "j1"
    assert bench.rows() == [factory[0], (0, factory[1][1], 0, 1), factory[2]]
    for slave in range(COUNT):
        bench.control.external_torque(slave, 12.0)
    before = bench.positions()
    bench.run(1.0)
    moved = bench.positions() - before
    assert moved[1] > 0.25
    assert moved[1] > 3 * max(moved[0], moved[2])


def test_a_limp_joint_sinks_slowly_and_is_caught_without_a_jump(bench: RingBench) -> None:
    bench.control.set_joint(1, 1.2)
    factory = bench.run(0.5).rows()
    bench.limp.select("j1")
    bench.run(0.2)
    falling = []
    for _ in range(50):
        bench.run(0.02)
        falling.append(abs(bench.control.drives()[1]["joint_velocity"]))
    assert 0.02 < max(falling) < 0.6  # [rad/s]; 6 Nm against 20 Nm s/rad
    bench.limp.select("")
    released = bench.positions()[1]
    caught = []
    for _ in range(25):
        bench.run(0.02)
        caught.append(bench.positions()[1])
    assert bench.rows() == factory
    assert max(abs(position - released) for position in caught) < 0.2
    assert not any(drive["error"] for drive in bench.control.drives())


def test_the_next_joint_is_softened_only_after_the_first_is_itself_again(bench: RingBench) -> None:
    factory = bench.run(0.1).rows()
    bench.limp.select("j0")
    bench.run(0.4)
    bench.control.log()
    bench.limp.select("j2")
    bench.run(0.4)
    assert bench.rows()[:2] == factory[:2]
    assert bench.rows()[2][3] == 1
    gates = [
        (slave, detail["value"])
        for _, slave, kind, detail in bench.control.log()
        if kind == "write" and detail["index"] == 0x2383
    ]
    assert gates == [(0, 0), (2, 1)]


def test_the_end_of_the_control_process_closes_the_gate_of_a_limp_joint(bench: RingBench) -> None:
    """As `hc mode quit` does, when the calibration itself has died."""
    bench.limp.select("j1")
    bench.run(0.4)
    assert bench.rows()[1][3] == 1
    bench.system.on_deactivate()
    assert [row[3] for row in bench.rows()] == [0, 0, 0]
