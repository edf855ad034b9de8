"""Obstacles to the health of a campaign's robot."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from fault_campaign.robot import Robot
from fault_campaign.robot_joints import PRIME


class Damped:
    """A robot at rest in DAMPING; a test changes its drives and motors."""

    joints = PRIME

    def __init__(self) -> None:
        self.drives = [{"error": 0, "gate": 1, "vel_reg": 56} for _ in range(10)]
        firmwares: list[dict[str, Any]] = [
            {"faults": 0, "enabled": True, "damping": 6.0} for _ in range(4)
        ]
        motors = [{"firmware": firmware} for firmware in firmwares]
        self.motors = dict(zip((22, 23, 38, 39), motors, strict=True))
        bus = SimpleNamespace(can_drives=lambda: self.motors)
        self.twin = SimpleNamespace(drives=lambda: self.drives, bus=lambda _name: bus)

    def _undamped(self) -> Iterator[str]:
        return Robot._undamped(cast("Robot", self))

    def _misstated(self) -> Iterator[str]:
        return iter(())


def ailing(robot: Damped) -> list[str]:
    return Robot.ailing(cast("Robot", robot))


def test_a_robot_in_damping_with_all_its_damping_is_well() -> None:
    assert ailing(Damped()) == []


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda it: it.drives[3].update(vel_reg=53), "drive 3: damping 5.63 Nm s/rad"),
        (lambda it: it.drives[3].update(gate=0), "drive 3: damping 0.00 Nm s/rad"),
        (lambda it: it.drives[3].update(error=0x8500), "drive 3: 0x8500"),
        (
            lambda it: it.motors[38]["firmware"].update(damping=5.6),
            "motor 38: damping 5.60 Nm s/rad",
        ),
        (lambda it: it.motors[38]["firmware"].update(enabled=False), "motor 38"),
    ],
)
def test_a_drive_that_does_not_damp_or_has_a_fault_is_an_obstacle(change: Any, found: str) -> None:
    robot = Damped()
    change(robot)
    assert ailing(robot) == [found]
