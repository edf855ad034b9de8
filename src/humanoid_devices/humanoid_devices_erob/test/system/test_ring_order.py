"""A ring in another order than the joints: each drive is that of its own joint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.safety import SafetyLevel
from humanoid_devices_erob.drive.joint_frame import JointFrame
from humanoid_devices_erob.errors import IdentityError
from humanoid_devices_erob.mailbox.sdo import SdoObject, SdoStatus
from humanoid_devices_erob.master.al_state import AlState
from humanoid_devices_erob.operation.recovery import TIMEOUT as RECOVERY_TIMEOUT
from humanoid_devices_erob.protocol.objects import (
    FEED_FORWARD,
    GATE_SWITCH,
    POSITION_GAIN,
    VELOCITY_GAIN,
    VELOCITY_INTEGRAL,
)
from humanoid_devices_erob.settings import parse_settings

if TYPE_CHECKING:
    from src.humanoid_devices.humanoid_devices_erob.test.system.conftest import Bench

AT = [2, 0, 3, 1]  # the drive of each joint; its inverse is another order
HEALTHY = 5687
PER_RADIAN = 524288 / (2 * np.pi)


@pytest.fixture
def make_ring(make_bench: Callable[..., Bench]) -> Callable[..., Bench]:
    """Four drives at `AT`, active."""

    def make(**options: object) -> Bench:
        bench = make_bench(4, **options)
        bench.new_system(positions=AT, calibration=[(1, 0.01)] * 4)
        bench.activate()
        bench.tick(3)
        return bench

    return make


def of_joints(bench: Bench, name: str) -> list[object]:
    """Return a value of each joint's drive."""
    found = bench.of_drives(name)
    return [found[slave] for slave in AT]


def healthy(bench: Bench) -> list[bool]:
    return [word == HEALTHY for word in of_joints(bench, "statusword")]


def targets(bench: Bench) -> np.ndarray:
    """Return the joints' targets [rad] in the drives."""
    return np.array(of_joints(bench, "target"), dtype=float) / PER_RADIAN


def stiff(bench: Bench) -> None:
    bench.enter(Mode.STANDBY, 1, 20.0, 2.0)
    bench.command.position[:] = bench.state.position
    bench.command.stiffness[:] = 20.0
    bench.tick(5)


def to_drive(joint: int, *values: tuple[tuple[int, int], int]) -> list[SdoObject]:
    return [SdoObject(AT[joint], *key, value.to_bytes(4, "little")) for key, value in values]


def joints_where(mask: Sequence[bool]) -> list[int]:
    return np.flatnonzero(mask).tolist()


@pytest.mark.parametrize("joint", range(4))
def test_an_error_is_reported_at_the_joint_of_the_drive(make_ring, joint: int) -> None:
    bench = make_ring()
    bench.system.mode_changed(Mode.DAMPING, 1)
    bench.control.drive_error(AT[joint], 0x8500)
    bench.tick(6)
    assert bench.system.safety().message.startswith(f"j{joint}: statusword 4616")
    found = bench.system.diagnose()[2:]
    assert [it.name for it in found] == [f"joint: j{i}" for i in range(4)]
    assert [int(it.values["slave"]) for it in found] == AT
    assert joints_where([it.values["error code"] == "0x8500" for it in found]) == [joint]
    assert joints_where([it.values["in operation"] == "no" for it in found]) == [joint]


def test_a_drive_with_another_serial_number_is_that_of_its_joint(make_bench) -> None:
    bench = make_bench(4)
    bench.new_system(positions=AT, serials=["77", None, None, None])
    with pytest.raises(IdentityError, match=r"^[^;]*slave 2 \(j0\): found .*, expected 77$"):
        bench.system.on_activate(bench.state)


@pytest.mark.parametrize("joint", range(4))
def test_the_target_of_a_joint_without_stiffness_follows_and_the_others_move(
    make_ring, joint: int
) -> None:
    bench = make_ring()
    stiff(bench)
    before = targets(bench)
    bench.command.stiffness[joint] = 0.0
    bench.command.position[:] += 0.05
    bench.tick(2)
    assert joints_where(targets(bench) - before < 0.04) == [joint]


@pytest.mark.parametrize("joint", range(4))
def test_the_target_of_a_joint_with_other_gains_follows_and_the_others_move(
    make_ring, joint: int
) -> None:
    bench = make_ring()
    stiff(bench)
    (result,) = bench.write(*to_drive(joint, (VELOCITY_GAIN, 18)))
    assert result.status is SdoStatus.DONE
    before = targets(bench)
    bench.command.position[:] += 0.05
    bench.tick(2)
    assert joints_where(targets(bench) - before < 0.04) == [joint]
    known = bench.system.realized_stiffness()
    assert joints_where(known < 19.5) == [joint]


@pytest.mark.parametrize("joint", range(4))
def test_the_target_of_the_joint_whose_feed_forward_is_known_follows_freely(
    make_ring, joint: int
) -> None:
    bench = make_ring()
    bench.system.mode_changed(Mode.DAMPING, 1)
    soft = ((POSITION_GAIN, 0), (VELOCITY_INTEGRAL, 0), (VELOCITY_GAIN, 56))
    armed = bench.write(*to_drive(joint, *soft, (GATE_SWITCH, 1), *soft, (FEED_FORWARD, 0)))
    assert {result.status for result in armed} == {SdoStatus.DONE}
    for other in range(4):  # 33.5 Nm are more than a stiff drive can give
        bench.control.external_torque(AT[other], 1.0 if other == joint else 33.5)
    bench.tick(25)
    behind = np.array(of_joints(bench, "joint_position")) - targets(bench)
    assert joints_where(behind < 0.05) == [joint]


def test_drives_that_are_still_stiff_are_not_enabled_and_their_joints_are_named(make_ring) -> None:
    bench = make_ring()
    stiff(bench)
    bench.control.cut(1)  # j0 and j2 are behind it
    bench.tick(30)
    bench.system.mode_changed(Mode.DAMPING, 2)
    bench.command.stiffness[:] = 0.0
    bench.tick(50)
    assert of_joints(bench, "pos_reg") == [515, 0, 515, 0]  # softened where it can be reached
    bench.control.mend()
    bench.publishing = False  # no SDO write is allowed
    bench.system.reset_faults()
    bench.tick(int(RECOVERY_TIMEOUT / bench.period) + 10)
    assert healthy(bench) == [False, True, False, True]
    assert "j0, j2: not enabled: the gains of the mode" in bench.system.safety().message


@pytest.mark.parametrize("joint", range(4))
def test_the_drive_of_a_joint_in_no_clear_place_is_left_out_alone(make_ring, joint: int) -> None:
    bench = make_ring()
    bench.enter(Mode.DAMPING, 1, 0.0, 6.0)
    for step in range(1, 33):
        bench.control.set_joint(AT[joint], 3.14 * step / 32)
        bench.tick()
    bench.tick(3)
    bench.system.reset_faults()
    bench.tick(60)
    assert joints_where([not it for it in healthy(bench)]) == [joint]
    assert f"j{joint} at 3.13 rad" in bench.system.safety().message


@pytest.mark.parametrize("joint", range(4))
def test_drives_are_softened_beside_one_that_cannot_be_written(make_ring, joint: int) -> None:
    bench = make_ring()
    stiff(bench)
    bench.system._master.request_slave_state(AT[joint], AlState.SAFEOP)
    bench.tick(3)
    bench.system.mode_changed(Mode.DAMPING, 2)  # the impedance manager is silent
    bench.command.stiffness[:] = 0.0
    bench.tick(100)
    assert joints_where([gain != 0 for gain in of_joints(bench, "pos_reg")]) == [joint]


@pytest.mark.parametrize("joint", range(4))
def test_the_stiff_drive_beside_limp_ones_may_change_its_gains(make_ring, joint: int) -> None:
    bench = make_ring(joints="arms", assume={"feed_forward": "kept"})
    bench.system.mode_changed(Mode.DAMPING, 1)
    soft = ((POSITION_GAIN, 0), (VELOCITY_INTEGRAL, 0), (VELOCITY_GAIN, 56))
    limp = [it for it in range(4) if it != joint]
    writes = [it for other in limp for it in to_drive(other, *soft, (GATE_SWITCH, 1), *soft)]
    assert {result.status for result in bench.write(*writes)} == {SdoStatus.DONE}
    for slave in range(4):
        bench.control.external_torque(slave, 33.5)  # their targets creep after the joints
    bench.tick(20)
    gains = (VELOCITY_GAIN, 19), (POSITION_GAIN, 515)
    found = [bench.write(*to_drive(it, *gains))[0] for it in range(4)]
    assert joints_where([it.status is SdoStatus.DONE for it in found]) == [joint]
    assert all(found[it].message.startswith(f"j{it} may be limp") for it in limp)


def test_every_target_keeps_the_speed_limit_of_its_joint(make_info) -> None:
    info = make_info(4, positions=AT)
    limits = replace(info.limits, velocity=np.array([1.0, 2.0, 3.0, 4.0]))
    frame = JointFrame(parse_settings(replace(info, limits=limits)))
    np.testing.assert_allclose(frame.velocity_limit[AT], limits.velocity * PER_RADIAN)


def test_a_ring_in_another_order_is_healthy_from_start_to_exit(make_ring) -> None:
    bench = make_ring()
    stiff(bench)
    assert bench.system.safety().level is SafetyLevel.OK
    bench.system.on_deactivate()
    assert bench.of_drives("gate") == [0] * 4
