"""Obstacles to the health of a campaign's robot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fault_campaign.robot import Robot
from fault_campaign.robot_joints import PRIME


class Damped:
    """A robot at rest in DAMPING; a test changes its drives and motors."""

    joints = PRIME

    def __init__(self) -> None:
        self.drives = [
            {"error": 0, "gate": 1, "vel_reg": 56, "powered": True, "statusword": 0x1637}
            for _ in range(10)
        ]
        firmwares: list[dict[str, Any]] = [
            {"faults": 0, "enabled": True, "damping": 6.0} for _ in range(4)
        ]
        motors = [{"powered": True, "firmware": firmware} for firmware in firmwares]
        self.motors: dict[int, Any] = dict(zip((22, 23, 38, 39), motors, strict=True))
        bus = SimpleNamespace(can_drives=lambda: self.motors)
        self.twin = SimpleNamespace(drives=lambda: self.drives, bus=lambda _name: bus)

    def undamped(self) -> Mapping[str, str]:
        return Robot.undamped(cast("Robot", self))

    def _misstated(self) -> Iterator[str]:
        return iter(())


def ailing(robot: Damped) -> list[str]:
    return Robot.ailing(cast("Robot", robot))


def test_a_robot_in_damping_with_all_its_damping_is_well() -> None:
    assert ailing(Damped()) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda it: it.drives[3].update(vel_reg=53), "left_elbow_pitch: damping 5.63 Nm s/rad"),
        (lambda it: it.drives[3].update(gate=0), "left_elbow_pitch: damping 0.00 Nm s/rad"),
        (lambda it: it.drives[3].update(error=0x8500), "drive 3: 0x8500"),
        (
            lambda it: it.motors[38]["firmware"].update(damping=5.6),
            "right_wrist_roll: damping 5.60 Nm s/rad",
        ),
    ],
)
def test_a_drive_that_does_not_damp_or_has_a_fault_is_an_obstacle(change: Any, found: str) -> None:
    robot = Damped()
    change(robot)
    assert ailing(robot) == [found]


@pytest.mark.parametrize(
    "change",
    [
        lambda it: it.motors[38]["firmware"].update(enabled=False),
        lambda it: it.motors[38].update(powered=False),
        lambda it: it.motors.update({99: it.motors.pop(38)}),
    ],
    ids=["disabled", "without power", "with another id"],
)
def test_a_motor_without_torque_does_not_damp(change: Any) -> None:
    robot = Damped()
    change(robot)
    assert dict(robot.undamped()) == {"right_wrist_roll": "damping 0.00 Nm s/rad"}


@pytest.mark.parametrize("change", [{"statusword": 0x1608}, {"powered": False}])
def test_a_drive_without_torque_does_not_damp(change: dict[str, Any]) -> None:
    robot = Damped()
    robot.drives[3].update(change)
    assert dict(robot.undamped()) == {"left_elbow_pitch": "damping 0.00 Nm s/rad"}
