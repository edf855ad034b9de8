"""The eRob side without ROS, for benchmarks: ErobSystem in a control loop on a virtual ring."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.machine.realtime import calm_interpreter
from humanoid_control_common.robot.joints import JointLimits, JointSet
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_controller_manager.controller import RobotFacts
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.hardware.member import Member
from humanoid_controller_manager.hardware_component import HardwareInfo, JointInfo
from humanoid_controller_manager.loop.control_loop import ControlLoop
from humanoid_controller_manager.loop.loop_thread import LoopThread
from humanoid_controller_manager.loop.mode_controllers import ControllerSlot
from humanoid_controller_manager.loop.snapshot import Snapshot
from humanoid_controller_manager.safety.limit_stage import LimitStage
from humanoid_controllers.passive_controllers import DampingController, DampingParameters
from humanoid_devices_erob.erob_system import ErobSystem
from humanoid_twin.ethercat.control import RingControl
from humanoid_twin.testing import ring

TORQUE_CONSTANT = 0.132e-3  # [Nm/mA] eRob70
GEAR = 50.0
TIMEOUT = 30.0  # [s] limit of a wait of a benchmark
SESSIONS = 200  # limit of the bring-ups of a benchmark


class InterruptedSessionError(Exception):
    """The host stopped this machine so long that drives faulted or objects were not written."""


def hardware_info(interface: str, slaves: int, rate: float, folder: Path) -> HardwareInfo:
    """Return a block of drives at `rate` [Hz]; writes its calibration file into `folder`."""
    names = [f"joint_{i}" for i in range(slaves)]
    calibration = folder / "calibration.yaml"
    calibration.write_text(
        "".join(
            f"{n}: {{id: {i}, direction: 1, homing_offset: 0.0}}\n" for i, n in enumerate(names)
        )
    )
    ones = np.ones(slaves)
    return HardwareInfo(
        name="ring",
        plugin="ethercat_driver/EthercatDriver",
        parameters={
            "master_id": "0",
            "interface": interface,
            "vendor_id": "0x5A65726F",
            "product_code": "0x00029252",
            "calibration_file": str(calibration),
        },
        joints=tuple(
            JointInfo(
                name,
                {
                    "ring_position": str(i),
                    "model": "eRob70_V4_MC2",
                    "kt": str(TORQUE_CONSTANT),
                    "gear": str(GEAR),
                },
                0.0,
            )
            for i, name in enumerate(names)
        ),
        limits=JointLimits(-3.0 * ones, 3.0 * ones, 4.0 * ones, 30.0 * ones),
        update_rate=rate,
        urdf="",
    )


class RunningRing:
    """A control loop in DAMPING that drives a ring; `starts` has the starts of its ticks."""

    def __init__(self, info: HardwareInfo) -> None:
        self.system = ErobSystem()
        joints, count = info.joint_set, len(info.joints)
        member = Member(info, self.system, np.arange(count), JointState(count), JointCommand(count))
        hardware = HardwareGroup(JointSet(joints.names), [member])
        hardware.configure()
        damping = DampingController()
        damping.on_configure(
            DampingParameters(damping=6.0), RobotFacts(joints, info.limits, info.update_rate)
        )
        self.loop = ControlLoop(
            hardware,
            LimitStage(info.limits),
            {"damping": ControllerSlot("damping", damping)},
            safe_chain=["damping"],
            update_rate=info.update_rate,
        )
        self.starts: list[float] = []  # [s] of every tick
        self.ticking = threading.Event()  # the loop drives the ring
        self.runner = LoopThread(self.loop, info.update_rate, self._tick_done)

    def _tick_done(self, snapshot: Snapshot) -> None:
        self.starts.append(snapshot.now)
        # No SDO is written while joint states are not published, see JointStatesGate.
        self.system.joint_states_published(time.monotonic(), snapshot.measured)
        self.ticking.set()

    def problem(self) -> str:
        """Return the drives' reports; empty without any."""
        return "; ".join(report.message for report in self.loop.snapshot.reports)


@contextmanager
def running_ring(interface: str, slaves: int, rate: float) -> Iterator[RunningRing]:
    """Run a ring in DAMPING, and stop it in order."""
    with TemporaryDirectory(prefix="hc_bench_") as folder:
        rig = RunningRing(hardware_info(interface, slaves, rate, Path(folder)))
        calm_interpreter()
        rig.runner.start("damping")
        try:
            assert rig.ticking.wait(TIMEOUT), "the loop does not tick"
            yield rig
        finally:
            rig.runner.stop()


def in_sessions(
    slaves: int, delay_ms: float, rate: float, work: Callable[[RunningRing, RingControl], bool]
) -> int:
    """Call `work` with a ring in operation until it returns True, with a new ring each time.

    Return the number of repetitions, mostly after an InterruptedSessionError.

    A virtual machine that its host stops for some milliseconds loses frames, unlike a robot's
    computer: at 1 kHz drives fault. Earlier measurements stay.
    """
    for interruptions in range(SESSIONS):
        try:
            with (
                ring(slaves, mailbox_delay_ms=delay_ms, realtime=True) as virtual,
                running_ring(virtual.interface, slaves, rate) as rig,
            ):
                if work(rig, virtual.control):
                    return interruptions
        except (InterruptedSessionError, HardwareError, ExceptionGroup):
            continue
    raise RuntimeError(f"{SESSIONS} sessions were interrupted: this machine is too busy")
