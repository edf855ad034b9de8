"""The impedance manager arms drives of a virtual ring, for every type of eRob.

Each drive turns an arm of 6 Nm that falls from level in DAMPING. With a limp drive it would reach
5.7 rad/s, with the register of DAMPING (56) alone 1.31.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from test_support.twin.memory_ring import MemoryRing

from humanoid_bringup_prime.impedance.manager import ImpedanceManager
from humanoid_control_common.robot.joints import JointLimits
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware_component import HardwareInfo, JointInfo
from humanoid_devices_erob.drive.gains import Registers
from humanoid_devices_erob.erob_system import ErobSystem
from humanoid_devices_erob.impedance.drives import Drives, mode_table
from humanoid_devices_erob.impedance.values import Batch, ModeInForce, Reply
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoStatus
from humanoid_devices_erob.operation.drive_impedance import ImpedanceReport
from humanoid_devices_erob.operation.joint_states_gate import JointStatesGate

PERIOD = 0.02
JOINT = "j0"


class Robot:
    """Drives, their component, and the impedance manager, in ring time."""

    def __init__(
        self,
        ring: MemoryRing,
        folder: Any,
        make_parameters: Any,
        kt: float,
        gear: float,
        *,
        count: int = 1,
        parallel: bool = True,
    ) -> None:
        self.names = [f"j{i}" for i in range(count)]
        self.target: float | None = None  # [rad] None: the position of the joint
        self.control, self.clock = ring.control, ring.clock
        self.system = ErobSystem(ring, open_master=ring.master)
        calibration = folder / "calibration.yaml"
        calibration.write_text(
            "".join(
                f"{name}: {{id: {i}, direction: 1, homing_offset: 0.0}}\n"
                for i, name in enumerate(self.names)
            )
        )
        joint = {"model": "eRob70_V4_MC2", "kt": str(kt), "gear": str(gear)}
        joints = [
            JointInfo(name, {**joint, "ring_position": str(i)}, 0.0)
            for i, name in enumerate(self.names)
        ]
        block = {
            "master_id": "0", "interface": ring.interface, "vendor_id": "0x5A65726F",
            "product_code": "0x00029252", "calibration_file": str(calibration),
        }  # fmt: skip
        limits = [np.full(count, value) for value in (-3.0, 3.0, 4.0, 30.0)]
        self.system.on_configure(
            HardwareInfo(
                name="Ring", plugin="ethercat_driver/EthercatDriver", parameters=block,
                joints=tuple(joints), limits=JointLimits(*limits),
                update_rate=1 / PERIOD, urdf="<robot/>",
            )
        )  # fmt: skip
        parameters = make_parameters(
            count, joint_names=self.names, kt=[kt] * count, gear=[gear] * count
        )
        drives = Drives.of(parameters)
        gate = JointStatesGate(self.names, PERIOD)
        table = mode_table(drives, parameters)
        self.manager = ImpedanceManager(drives, table, gate, parallel=parallel, timeout=1.0)
        self._state, self._command = JointState(count), JointCommand(count)
        self._in_force = ModeInForce(Mode.DAMPING, 1)
        self.speeds: list[float] = []
        self.refused = 0  # objects, to the manager
        self.written: list[list[int]] = []  # slaves of every batch that writes

    def start(self, mode: Mode) -> None:
        self.system.on_activate(self._state)
        self._due = self.clock()
        self.enter(mode)

    def enter(self, mode: Mode) -> None:
        self._in_force = ModeInForce(mode, self._in_force.number + 1)
        self.system.mode_changed(*self._in_force)

    def tick(self, count: int = 1) -> None:
        for _ in range(count):
            self.system.read(self._state, self.clock(), PERIOD)
            self.system.joint_states_published(self.clock(), self.clock())
            self._command.position[:] = self._state.position if self.target is None else self.target
            self._command.stiffness[:] = 20.0 if self._in_force.mode is Mode.STANDBY else 0.0
            self.system.write(self._command, self.clock(), PERIOD)
            self._manage()
            self._due = max(self._due + PERIOD, self.clock()) + self.system.tick_correction()
            self.system.idle_until(self._due)
            self.speeds.append(abs(self.drive["joint_velocity"]))

    def _manage(self) -> None:
        now = self.clock()
        self.manager.stated(self._in_force, now)
        self.manager.joints_seen(self.names, [0.0] * len(self.names), now)
        self._send_due()
        summary = self.manager.summary(now)
        position, velocity, integral = np.array(summary.registers).T
        self.system.impedance_reported(
            ImpedanceReport(
                arrived=now, gate_open=summary.gate_open,
                armed=summary.armed, confirmed=summary.confirmed,
                mode=int(self._in_force.mode), number=self._in_force.number,
                joint_names=tuple(self.names),
                registers=Registers(position, velocity, integral),
                status_message=summary.message,
            )
        )  # fmt: skip

    def _send_due(self) -> None:
        for batch in self.manager.next_batches(self.clock()):
            mode, number = batch.in_force
            sent = SdoBatch(
                batch.objects, write=batch.write, mode=int(mode), number=number,
                valid_until=batch.valid_until,
            )  # fmt: skip
            if batch.write:
                self.written.append(sorted(batch.slaves))
            future = self.system.submit(sent)
            future.add_done_callback(lambda done, batch=batch: self._answered(batch, done.result()))

    def _answered(self, batch: Batch, results: Any) -> None:
        self.refused += sum(result.status is SdoStatus.REFUSED for result in results)
        self.manager.finished(batch, Reply(results), self.clock())
        self._send_due()

    @property
    def number(self) -> int:
        """Return the number of the switch in force."""
        return self._in_force.number

    @property
    def drive(self) -> Mapping[str, Any]:
        return self.control.drives()[0]

    @property
    def measured(self) -> float:
        """Return the position of the joint [rad] by the component."""
        return float(self._state.position[0])

    @property
    def values(self) -> Mapping[str, str]:
        """Return the values of the joint's diagnosis."""
        return next(it.values for it in self.system.diagnose() if it.name == f"joint: {JOINT}")

    @property
    def impedance(self) -> Any:
        return next(it for it in self.system.diagnose() if it.name.startswith("impedance"))

    def fall(self) -> float:
        """Fastest speed [rad/s] of the arm, released in level position."""
        self.control.set_joint(0, math.pi / 2)
        self.tick(5)
        self.control.set_joint(0, math.pi / 2)
        self.speeds.clear()
        self.tick(125)
        return max(self.speeds)


@pytest.fixture
def make_robot(tmp_path: Any, make_parameters: Any) -> Iterator[Callable[..., Robot]]:
    with ExitStack() as cleanup:

        def make(
            *,
            joints: str = "arms",
            kt: float = 0.132e-3,
            gear: float = 50.0,
            count: int = 1,
            parallel: bool = True,
            delay_ms: float = 0.0,
            **assumed: object,
        ) -> Robot:
            ring = MemoryRing(count, joints=joints, mailbox_delay_ms=delay_ms, assume=assumed)
            robot = Robot(ring, tmp_path, make_parameters, kt, gear, count=count, parallel=parallel)
            cleanup.callback(robot.system.on_deactivate)
            return robot

        yield make


@pytest.mark.parametrize("length", [4, 2])
@pytest.mark.parametrize("stores", [True, False])
@pytest.mark.parametrize("kind", ["writable", "absent"])
def test_damping_is_confirmed_and_damps(
    make_robot: Any, kind: str, stores: bool, length: int
) -> None:
    assumed = {"feed_forward": kind, "stores_gains_behind_closed_gate": stores}
    robot = make_robot(**assumed, gain_bytes=length)
    robot.start(Mode.DAMPING)
    robot.tick(20)
    assert robot.system.impedance_confirmed(), robot.manager.summary(robot.clock()).message
    assert robot.control.drives()[0]["vel_reg"] == 56
    expected = "0" if kind == "writable" else "the drive has none"
    assert robot.values["velocity feed-forward 0x2382:03"] == expected
    assert robot.fall() == pytest.approx(1.31, abs=0.02)
    robot.enter(Mode.STANDBY)
    robot.tick(20)
    assert robot.system.impedance_confirmed()


@pytest.mark.parametrize("kind", ["read-only", "kept"])
def test_feed_forward_that_stays_is_reported_allows_no_stiff_mode_and_damping_damps(
    make_robot: Any, kind: str
) -> None:
    robot = make_robot(feed_forward=kind)
    robot.start(Mode.DAMPING)
    robot.tick(20)
    assert robot.control.drives()[0]["gate"] == 1
    assert robot.control.drives()[0]["vel_reg"] == 56
    assert not robot.system.impedance_confirmed()
    assert robot.values["velocity feed-forward 0x2382:03"] == str(0x4000)
    assert "velocity feed-forward acts in j0: their targets creep" in robot.impedance.message
    assert "0x2382:03" in robot.manager.summary(robot.clock()).message
    # The joint limit is 4 rad/s; the target creeps at a twentieth of it.
    assert robot.fall() < 1.31 + 0.2 + 0.05


@pytest.mark.parametrize(
    ("kt", "gear", "damping"),
    [(0.132e-3, 50.0, 19), (0.132e-3, 100.0, 9), (0.132e-3, 30.0, 31), (0.264e-3, 50.0, 9)],
)
def test_a_wrong_gear_or_torque_constant_scales_the_impedance_and_nothing_else(
    make_robot: Any, kt: float, gear: float, damping: int
) -> None:
    robot = make_robot(joints="bench", kt=kt, gear=gear)  # the drive has 0.132e-3 and 50
    robot.start(Mode.DAMPING)
    robot.tick(20)
    robot.enter(Mode.STANDBY)
    robot.tick(20)
    assert robot.system.impedance_confirmed()
    # kd / 0.1063 times the scale of the mistake; the ratio kp / kd · 51.47 has none in it.
    assert (robot.drive["vel_reg"], robot.drive["pos_reg"]) == (damping, 515)
    robot.target = 0.5
    robot.tick(300)
    assert robot.drive["joint_position"] == pytest.approx(0.5, abs=0.001)
    assert robot.measured == pytest.approx(robot.drive["joint_position"], abs=0.001)
    robot.control.external_torque(0, 1.0)
    robot.tick(300)
    sag = robot.drive["joint_position"] - 0.5
    # Of 20 Nm/rad, with 0.7 of the torque behind the transmission.
    assert sag == pytest.approx(1.0 / (20.0 * 0.7) * 18.81 / damping, rel=0.02)
    assert robot.measured == pytest.approx(robot.drive["joint_position"], abs=0.001)


def move_by_hand(robot: Robot) -> None:
    """Push by half a radian and release; the joint comes to rest."""
    begin = robot.drive["joint_position"]
    robot.control.external_torque(0, 12.0)
    while robot.drive["joint_position"] < begin + 0.5:
        robot.tick()
    robot.control.external_torque(0, 0.0)
    robot.tick(12)
    robot.speeds.clear()


@pytest.mark.parametrize("stores", [True, False])
@pytest.mark.parametrize("kind", ["writable", "absent", "kept", "read-only"])
def test_limp_joint_that_was_moved_is_not_pulled_when_it_is_to_be_stiff(
    make_robot: Any, kind: str, stores: bool
) -> None:
    assumed = {"feed_forward": kind, "stores_gains_behind_closed_gate": stores}
    robot = make_robot(joints="bench", **assumed)
    robot.start(Mode.DAMPING)
    robot.tick(20)
    move_by_hand(robot)
    robot.enter(Mode.STANDBY)
    robot.tick(25)  # 0.5 s, after which a mode that is not confirmed ends
    if kind in ("writable", "absent"):
        assert robot.system.impedance_confirmed()
    else:
        message = robot.manager.summary(robot.clock()).message
        assert not robot.system.impedance_confirmed()
        assert "j0" in message
        assert "0x2382:03" in message
        assert (robot.drive["pos_reg"], robot.drive["vel_reg"]) == (0, 56)  # damping still acts
    robot.enter(Mode.DAMPING)
    robot.tick(25)
    assert max(robot.speeds) < 0.2  # [rad/s]; with a position gain it would be 3


def test_feed_forward_written_while_a_joint_is_limp_pulls_nothing(
    make_robot: Any,
) -> None:
    """The component detects it by its own read-back, the manager by its next reading."""
    robot = make_robot(joints="bench")
    robot.start(Mode.DAMPING)
    robot.tick(20)
    by_hand = SdoObject(0, 0x2382, 3, (0x4000).to_bytes(4, "little"))
    robot.system.submit(SdoBatch((by_hand,), write=True, mode=1, number=robot.number))
    robot.tick(2)
    assert robot.values["velocity feed-forward 0x2382:03"] == str(0x4000)
    move_by_hand(robot)
    refused = robot.refused
    robot.enter(Mode.STANDBY)
    robot.tick(25)
    assert robot.refused > refused
    assert robot.system.impedance_confirmed()
    assert max(robot.speeds) < 0.2


def loaded_in_standby(make_robot: Any) -> Any:
    """A robot in STANDBY whose joints are 0.14 rad off their targets."""
    robot = make_robot(joints="bench", count=3)
    robot.start(Mode.DAMPING)
    robot.tick(20)
    robot.target = robot.measured
    robot.enter(Mode.STANDBY)
    robot.tick(20)
    for slave in range(3):
        robot.control.external_torque(slave, 2.0)
    robot.tick(60)
    return robot


def test_reading_that_one_drive_does_not_answer_leaves_all_targets_at_the_command(
    make_robot: Any, caplog: pytest.LogCaptureFixture
) -> None:
    robot = loaded_in_standby(make_robot)
    targets = [drive["target"] for drive in robot.control.drives()]
    for _ in range(3):
        robot.control.mailbox_delay(math.inf, 2)
        for _ in range(30):  # 0.6 s
            robot.tick()
            assert robot.system.impedance_confirmed()
            assert [drive["target"] for drive in robot.control.drives()] == targets
        robot.control.mailbox_delay(0.0, 2)
        robot.tick(60)
    assert any("j2: slave 2" in text and "no answer" in text for text in caplog.messages)


def test_only_the_target_of_a_silent_drive_follows_its_joint(make_robot: Any) -> None:
    robot = loaded_in_standby(make_robot)
    targets = [drive["target"] for drive in robot.control.drives()]
    robot.control.mailbox_delay(math.inf, 2)
    robot.tick(200)  # 4 s: the manager uses a reading for 2 s
    assert not robot.system.impedance_confirmed()
    found = [drive["target"] for drive in robot.control.drives()]
    assert found[:2] == targets[:2]
    assert found[2] != targets[2]
    robot.control.mailbox_delay(0.0, 2)
    robot.tick(200)  # a second until the next try, back at a quarter of the velocity limit
    assert robot.system.impedance_confirmed()
    assert [drive["target"] for drive in robot.control.drives()] == targets


@pytest.mark.parametrize("parallel", [True, False])
def test_ten_drives_get_their_gains_without_a_batch_that_is_refused_or_repeated(
    make_robot: Any, parallel: bool
) -> None:
    """At 50 Hz a permission to write lasts 0.1 s; ten drives in a row need twice this time."""
    robot = make_robot(joints="bench", count=10, parallel=parallel, delay_ms=2.0)
    once = [list(range(10))] if parallel else [[slave] for slave in range(10)]
    robot.start(Mode.DAMPING)
    robot.tick(40)
    assert robot.system.impedance_confirmed()
    assert robot.written == once
    robot.written.clear()
    robot.enter(Mode.STANDBY)
    robot.tick(20)
    assert robot.system.impedance_confirmed()
    assert robot.written == once

    robot.written.clear()
    robot.control.log()
    robot.enter(Mode.DAMPING)
    stiff = []
    while not stiff or stiff[-1]:
        robot.tick()
        stiff.append(sum(drive["pos_reg"] > 0 for drive in robot.control.drives()))
        assert len(stiff) <= 10  # 0.2 s
    assert stiff == sorted(stiff, reverse=True)
    robot.tick(3)
    assert robot.written == once
    assert robot.refused == 0
    first: dict[int, tuple[int, int]] = {}
    for _, slave, kind, detail in robot.control.log():
        if kind == "write":
            first.setdefault(slave, (detail["index"], detail["subindex"]))
    assert first == dict.fromkeys(range(10), (0x2382, 1))  # the position gain, in ring order
    assert parallel or list(first) == list(range(10))
