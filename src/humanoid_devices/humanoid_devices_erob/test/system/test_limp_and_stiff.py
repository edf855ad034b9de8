"""A limp joint is made stiff only at its target: otherwise the drive would pull it there."""

from __future__ import annotations

from typing import Any

import pytest

from humanoid_control_common.rules.modes import Mode
from humanoid_devices_erob.mailbox.sdo import SdoObject, SdoStatus
from humanoid_devices_erob.protocol.objects import (
    FEED_FORWARD,
    GATE_SWITCH,
    POSITION_GAIN,
    VELOCITY_GAIN,
    VELOCITY_INTEGRAL,
)


def to_drive(key: tuple[int, int], value: int) -> SdoObject:
    return SdoObject(0, *key, value.to_bytes(4, "little"))


LIMP = [
    to_drive(POSITION_GAIN, 0),
    to_drive(VELOCITY_INTEGRAL, 0),
    to_drive(VELOCITY_GAIN, 56),
    to_drive(GATE_SWITCH, 1),
    to_drive(POSITION_GAIN, 0),
    to_drive(VELOCITY_INTEGRAL, 0),
    to_drive(VELOCITY_GAIN, 56),
]
STIFFENING = {
    "position gain": [to_drive(VELOCITY_GAIN, 19), to_drive(POSITION_GAIN, 515)],
    "gate": [to_drive(GATE_SWITCH, 0)],
}


def limp_and_moved(make_bench: Any, kind: str) -> Any:
    """An arm, held half a radian off its hanging position."""
    bench = make_bench(1, joints="arms", assume={"feed_forward": kind})
    bench.activate()
    bench.tick()
    bench.system.mode_changed(Mode.DAMPING, 1)
    assert {result.status for result in bench.write(*LIMP)} == {SdoStatus.DONE}
    bench.control.external_torque(0, 9.0)
    while bench.of_drives("joint_position")[0] < 0.5:
        bench.tick()
    bench.control.external_torque(0, 3.0)
    return bench


@pytest.mark.parametrize("objects", STIFFENING.values(), ids=STIFFENING)
@pytest.mark.parametrize("kind", ["kept", "read-only"])
def test_stiffness_is_refused_until_the_target_has_arrived(
    make_bench: Any, kind: str, objects: list[SdoObject]
) -> None:
    bench = limp_and_moved(make_bench, kind)
    bench.tick(2)
    gains = bench.of_drives("pos_reg"), bench.of_drives("vel_reg"), bench.of_drives("gate")
    results = bench.write(*objects)
    assert {result.status for result in results} == {SdoStatus.REFUSED}
    assert "j0 may be limp, and its target is" in results[0].message
    assert "0x2382:03" in results[0].message
    # A batch that ends in stiffness makes no write.
    assert gains == (
        bench.of_drives("pos_reg"), bench.of_drives("vel_reg"), bench.of_drives("gate")
    )  # fmt: skip
    bench.control.external_torque(0, 0.0)  # the arm sinks back, and the target creeps there
    for _ in range(40):
        bench.tick(25)
        results = bench.write(*objects)
        if results[0].status is SdoStatus.DONE:
            break
    assert {result.status for result in results} == {SdoStatus.DONE}
    speeds = []
    for _ in range(25):
        bench.tick()
        speeds.append(abs(bench.of_drives("joint_velocity")[0]))
    assert max(speeds) < 0.25  # [rad/s]
    assert bench.of_drives("error") == [0]


@pytest.mark.parametrize("objects", STIFFENING.values(), ids=STIFFENING)
def test_stiffness_is_given_to_a_joint_whose_target_follows_freely(
    make_bench: Any, objects: list[SdoObject]
) -> None:
    bench = limp_and_moved(make_bench, "writable")
    bench.write(to_drive(FEED_FORWARD, 0))
    bench.tick(10)
    assert {result.status for result in bench.write(*objects)} == {SdoStatus.DONE}


def test_stiff_drive_whose_target_creeps_may_change_its_gains(make_bench: Any) -> None:
    """The joint is stiff already, so it cannot be pulled."""
    bench = make_bench(1, joints="arms", assume={"feed_forward": "kept"})
    bench.activate()
    bench.tick()
    bench.system.mode_changed(Mode.STANDBY, 1)
    bench.control.external_torque(0, 33.5)  # more than the drive can give
    bench.tick(100)
    assert bench.of_drives("joint_position")[0] > 0.1
    bench.control.mailbox_delay(0.002)
    gains = [to_drive(POSITION_GAIN, 515), to_drive(VELOCITY_GAIN, 19)]
    # After writes of the batch itself the registers are unknown until the read-back.
    armed = bench.write(*gains, to_drive(GATE_SWITCH, 1), *gains)
    assert {result.status for result in armed} == {SdoStatus.DONE}
    # The same with known registers.
    changed = bench.write(to_drive(VELOCITY_GAIN, 18), to_drive(POSITION_GAIN, 400))
    assert {result.status for result in changed} == {SdoStatus.DONE}
    assert bench.system._ring.targets.left_behind(0) > 0.0
