"""Commands that cannot act are counted per joint and interface."""

from __future__ import annotations

import numpy as np
import pytest

from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.safety.ineffective_commands import IneffectiveCommands

# Columns: a servo (gains per mode), a motor (everything per tick).
CAPABILITIES = np.array([[2, 2], [0, 2], [0, 2], [1, 2], [1, 2]], dtype=np.int8)
VELOCITY, EFFORT, STIFFNESS, DAMPING = range(4)


@pytest.fixture
def gains() -> np.ndarray:
    found = np.full((5, 2, 2), np.nan)
    found[:, :, 0] = [[0, 0], [0, 6], [20, 2], [20, 2], [20, 2]]
    return found


@pytest.fixture
def counter(gains: np.ndarray) -> IneffectiveCommands:
    counter = IneffectiveCommands(CAPABILITIES, gains)
    counter.mode_begins(Mode.REMOTE, preparing=False)
    return counter


def command(*rows: float) -> JointCommand:
    """The same five values for both joints."""
    found = JointCommand(2)
    found.array[:] = np.array(rows)[:, np.newaxis]
    return found


@pytest.mark.parametrize(
    ("asked", "in_vain"),
    [
        (command(0.5, 0.0, 0.0, 20.0, 2.0), []),
        (command(0.5, 0.1, 0.0, 20.0, 2.0), [VELOCITY]),
        (command(0.5, -0.1, 0.0, 20.0, 2.0), [VELOCITY]),
        (command(0.5, 0.0, -1.0, 20.0, 2.0), [EFFORT]),
        (command(0.5, 0.0, 0.0, 19.9, 2.0), [STIFFNESS]),
        (command(0.5, 0.0, 0.0, 40.0, 2.0), [STIFFNESS]),
        (command(0.5, 0.0, 0.0, 20.0, 0.0), [DAMPING]),
        (command(0.5, 0.0, 0.0, 0.0, 2.0), []),  # the target follows the joint: the command acts
        (command(0.5, 0.0, 0.0, float(np.float32(20.0)), float(np.float32(2.0))), []),
        (command(0.5, 1.0, 1.0, 5.0, 0.1), [VELOCITY, EFFORT, STIFFNESS, DAMPING]),
    ],
)
def test_ineffective_commands_are_counted_for_the_servo_and_never_for_the_motor(
    counter: IneffectiveCommands, asked: JointCommand, in_vain: list[int]
) -> None:
    counter.count(asked)
    counter.count(asked)
    expected = np.zeros((4, 2))
    expected[in_vain, 0] = 2
    assert counter.counts.tolist() == expected.tolist()


def test_each_mode_has_gains_of_its_own(counter: IneffectiveCommands) -> None:
    counter.mode_begins(Mode.DAMPING, preparing=False)
    counter.count(command(0.5, 0.0, 0.0, 0.0, 6.0))
    assert not counter.counts.any()
    counter.count(command(0.5, 0.0, 0.0, 0.0, 2.0))
    assert counter.counts[DAMPING].tolist() == [1, 0]


def test_commands_are_not_counted_while_the_previous_gains_act(
    counter: IneffectiveCommands,
) -> None:
    counter.mode_begins(Mode.REMOTE, preparing=True)
    counter.count(command(0.5, 0.0, 0.0, 0.0, 6.0))
    assert not counter.counts.any()


def test_gains_are_not_judged_where_the_modes_are_not_known() -> None:
    counter = IneffectiveCommands(CAPABILITIES, np.full((5, 2, 2), np.nan))
    counter.mode_begins(Mode.REMOTE, preparing=False)
    counter.count(command(0.5, 1.0, 0.0, 3.0, 0.3))
    assert counter.counts.tolist() == [[1, 0], [0, 0], [0, 0], [0, 0]]
