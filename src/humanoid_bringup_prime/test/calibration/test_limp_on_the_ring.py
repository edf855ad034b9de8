"""A limp joint on the virtual ring: moved by hand, while the others hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_support.twin.memory_ring import MemoryRing

from humanoid_bringup.calibration.limp_drive import LimpDrives
from humanoid_bringup.calibration.robot import Drive
from humanoid_control_common.robot.joints import JointLimits
from humanoid_controller_manager.hardware_component import HardwareInfo, JointInfo
from humanoid_devices_erob.operation.joint_states_gate import JointStatesGate

COUNT = 3
NAMES = [f"j{i}" for i in range(COUNT)]
RATE = 50.0  # [Hz]


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
            JointInfo(name, {**facts, "ring_position": str(i)}, 0.0) for i, name in enumerate(NAMES)
        ),
        limits=JointLimits(-3 * ones, 3 * ones, 4 * ones, 30 * ones),
        update_rate=RATE,
        urdf="<robot/>",
    )


@pytest.fixture
def make_bench(ring_bench: Any, tmp_path: Path) -> Iterator[Callable[..., Any]]:
    """Three joints of an arm that hangs down; the second joint is raised by `raised` [rad]."""
    with ExitStack() as cleanup:

        def make(raised: float = 0.0, **assumed: object) -> Any:
            # Only a brake holds an arm up before its drive is enabled.
            ring = MemoryRing(COUNT, joints="arms", assume={**assumed, "brake": True})
            ring.control.set_joint(1, raised)
            drives = [Drive(name, slave, 56) for slave, name in enumerate(NAMES)]
            limp_drives = LimpDrives(drives, JointStatesGate(NAMES, 1 / RATE), timeout=1.0)
            info = _block(ring.interface, tmp_path / "calibration.yaml")
            made = ring_bench(ring.control, ring, info, limp_drives, ring.master)
            cleanup.callback(made.system.on_deactivate)
            return made

        yield make


@pytest.fixture
def bench(make_bench: Callable[..., Any]) -> Any:
    return make_bench()


def positions(bench: Any) -> np.ndarray:
    return np.array([drive["joint_position"] for drive in bench.control.drives()])


def test_a_limp_joint_follows_the_hand_and_the_others_hardly_give_way(bench: Any) -> None:
    factory = bench.run(0.1).rows()
    bench.limp_drives.select("j1")
    bench.run(0.4)
    assert bench.limp_drives.limp_joint == "j1"
    assert bench.rows() == [factory[0], (0, factory[1][1], 0, 1), factory[2]]
    for slave in range(COUNT):
        bench.control.external_torque(slave, 12.0)
    before = positions(bench)
    bench.run(1.0)
    moved = positions(bench) - before
    assert moved[1] > 0.25
    assert moved[1] > 3 * max(moved[0], moved[2])


@pytest.mark.parametrize("stores", [True, False])
@pytest.mark.parametrize("kind", ["writable", "absent"])
def test_a_limp_joint_sinks_slowly_and_is_caught_without_a_jump(
    make_bench: Any, kind: str, stores: bool
) -> None:
    bench = make_bench(1.2, feed_forward=kind, stores_gains_behind_closed_gate=stores)
    factory = bench.run(0.5).rows()
    assert abs(positions(bench)[1] - 1.2) < 0.1
    bench.limp_drives.select("j1")
    bench.run(0.2)
    assert bench.limp_drives.limp_joint == "j1"
    falling = []
    for _ in range(50):
        bench.run(0.02)
        falling.append(abs(bench.control.drives()[1]["joint_velocity"]))
    assert 0.02 < max(falling) < 0.6  # [rad/s]; 6 Nm against 20 Nm s/rad
    bench.limp_drives.select("")
    released = positions(bench)[1]
    caught, speeds = [], []
    for _ in range(25):
        bench.run(0.02)
        caught.append(positions(bench)[1])
        speeds.append(abs(bench.control.drives()[1]["joint_velocity"]))
    assert bench.rows() == factory
    assert max(abs(position - released) for position in caught) < 0.2
    assert max(speeds) < 0.6
    assert not any(drive["error"] for drive in bench.control.drives())


@pytest.mark.parametrize("stores", [True, False])
@pytest.mark.parametrize("kind", ["read-only", "kept"])
def test_a_joint_whose_feed_forward_stays_is_never_made_limp(
    make_bench: Any, kind: str, stores: bool
) -> None:
    """The target could not follow the joint, and would pull it when it is stiff again."""
    bench = make_bench(1.2, feed_forward=kind, stores_gains_behind_closed_gate=stores)
    factory = bench.run(0.1).rows()
    speeds = []
    for joint in ("j1", ""):
        bench.limp_drives.select(joint)
        for _ in range(50):
            bench.run(0.02)
            speeds.append(abs(bench.control.drives()[1]["joint_velocity"]))
            assert bench.limp_drives.limp_joint == ""
            assert not bench.limp_drives.selected or len(speeds) < 5
        if joint:
            assert "j1 cannot be limp" in bench.limp_drives.message
            assert "0x2382:03" in bench.limp_drives.message
    assert bench.rows() == factory
    assert bench.limp_drives.released
    assert max(speeds) < 0.1  # [rad/s]; it sinks as before
    assert not any(drive["error"] for drive in bench.control.drives())


def test_selected_joint_is_softened_only_after_the_previous_one_is_restored(bench: Any) -> None:
    factory = bench.run(0.1).rows()
    bench.limp_drives.select("j0")
    bench.run(0.4)
    bench.control.log()
    bench.limp_drives.select("j2")
    bench.run(0.4)
    assert bench.rows()[:2] == factory[:2]
    assert bench.rows()[2][3] == 1
    gates = [
        (slave, detail["value"])
        for _, slave, kind, detail in bench.control.log()
        if kind == "write" and detail["index"] == 0x2383
    ]
    assert gates == [(0, 0), (2, 1)]


def test_the_end_of_the_control_process_closes_the_gate_of_a_limp_joint(bench: Any) -> None:
    """The control process ends as by `hc mode quit`, after the death of the calibration."""
    bench.limp_drives.select("j1")
    bench.run(0.4)
    assert bench.rows()[1][3] == 1
    bench.system.on_deactivate()
    assert [row[3] for row in bench.rows()] == [0, 0, 0]
