"""Hand's bring-up, and its tendons in the virtual robot."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from humanoid_bringup.options import Backend, Options
from humanoid_bringup.plan import plan
from humanoid_bringup.robot_package import find_robot
from humanoid_twin.physics.mujoco_plant import MujocoPlant
from humanoid_twin.robot.actuators import load_actuators

HAND = find_robot("hand")


@pytest.mark.parametrize("backend", list(Backend))
def test_no_process_but_those_of_every_robot_is_started(backend: Backend, tmp_path: Path) -> None:
    options = Options(backend=backend, robot=HAND, viewer=False)
    labels = [process.label for process in plan(options, tmp_path)]
    around = (["robot"], ["truth"]) if backend is Backend.TWIN else ([], [])
    assert labels == ["black_box", *around[0], "control", *around[1]]


def test_the_virtual_robot_has_the_boards_of_the_hardware_file() -> None:
    hardware = yaml.safe_load(HAND.drives.hardware.read_text())["joints"]
    for bus, rows in load_actuators(HAND.drives.virtual_robot).can.items():
        found = {row.joint: {"id": row.id, "model": row.model} for row in rows}
        expected = {
            joint: {key: row[key] for key in ("id", "model")}
            for joint, row in hardware[bus].items()
        }
        assert found == expected


def test_friction_and_springs_hold_a_finger_that_nothing_pulls() -> None:
    """The friction of the map holds a bent proximal joint; the spring extends the others."""
    actuators = load_actuators(HAND.drives.virtual_robot)
    urdf = HAND.expand({})
    plant = MujocoPlant(urdf, actuators.rotors, actuators.frictions, actuators.springs)
    j3, j2, j1 = (actuators.joints.index(f"left_finger_{name}") for name in ("j3", "j2", "j1"))
    plant.set_state(j3, 0.2, 0.0)
    for joint in (j2, j1):
        plant.set_state(joint, 1.0, 0.0)
    for _ in range(2000):
        plant.step(0.001)
    assert plant.position[j3] == pytest.approx(0.2, abs=0.02)
    assert abs(plant.position[[j2, j1]]).max() < 0.4
