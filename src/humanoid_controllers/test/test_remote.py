"""REMOTE: valid commands, their limits, and stale commands."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from humanoid_control_common.errors import ControllerError
from humanoid_control_common.robot.joints import JointSet
from humanoid_control_common.robot.mit_interface import COMMAND_INTERFACES, JointCommand
from humanoid_controllers.remote import (
    RemoteCommand,
    RemotePolicyController,
    checked_command,
    command_array,
)

NAMES = ("shoulder", "elbow", "wrist")
JOINTS = JointSet(NAMES)
VELOCITY_LIMIT = 3.0  # [rad/s]
PERIOD = 0.01  # [s]
TIMEOUT = 0.1  # [s]


def _values(**changes: Any) -> dict[str, Any]:
    values = {name: [0.0, 0.0, 0.0] for name in COMMAND_INTERFACES}
    return {**values, **changes}


def test_valid_command_is_accepted_unchanged() -> None:
    rows = {name: [i, i + 0.1, i + 0.2] for i, name in enumerate(COMMAND_INTERFACES)}
    command = checked_command(JOINTS, command_array(JOINTS, list(NAMES), rows), 12.5)
    assert command.array.tolist() == list(rows.values())
    assert command.arrival == 12.5


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["elbow", "shoulder", "wrist"], ["another order", "shoulder, elbow, wrist"]),
        (["shoulder", "elbow"], ["missing: wrist"]),
        (["shoulder", "elbow", "elbow"], ["missing: wrist", "repeated: elbow"]),
        (["shoulder", "elbow", "wrist", "wrist"], ["repeated: wrist"]),
        (["shoulder", "elbow", "wrist", "knee"], ["unknown: knee"]),
        (["shoulder", "elbow", "Wrist"], ["unknown: Wrist", "missing: wrist"]),
        ([], ["missing: shoulder, elbow, wrist"]),
    ],
)
def test_joints_must_be_exactly_the_robots_in_their_order(
    names: list[str], expected: list[str]
) -> None:
    with pytest.raises(ControllerError) as caught:
        command_array(JOINTS, names, _values())
    for part in expected:
        assert part in str(caught.value)


@pytest.mark.parametrize("interface", COMMAND_INTERFACES)
@pytest.mark.parametrize("length", [0, 2, 4])
def test_every_interface_must_have_a_value_for_every_joint(interface: str, length: int) -> None:
    values = _values(**{interface: [0.0] * length})
    with pytest.raises(ControllerError, match=rf"expected 3 values each.*{interface} \({length}\)"):
        command_array(JOINTS, NAMES, values)


@pytest.mark.parametrize("interface", COMMAND_INTERFACES)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_must_be_finite(interface: str, value: float) -> None:
    values = _values(**{interface: [0.0, value, 0.0]})
    with pytest.raises(ControllerError, match=r"elbow$"):
        checked_command(JOINTS, command_array(JOINTS, NAMES, values), 0.0)


@pytest.mark.parametrize("interface", ["stiffness", "damping"])
def test_gains_must_not_be_negative(interface: str) -> None:
    values = _values(**{interface: [0.0, 0.0, -1e-9]})
    with pytest.raises(ControllerError, match=r"negative gain: wrist$"):
        checked_command(JOINTS, command_array(JOINTS, NAMES, values), 0.0)


def test_absurd_but_finite_values_are_refused_naming_the_joint() -> None:
    with pytest.raises(ControllerError, match=r"elbow$"):
        values = _values(position=[0.0, 1.7e308, 0.0])
        checked_command(JOINTS, command_array(JOINTS, NAMES, values), 0.0)


def test_the_senders_clock_has_no_way_in() -> None:
    parameters = inspect.signature(checked_command).parameters
    assert list(parameters) == ["joints", "array", "arrival"]


class Stream:
    """A controller, and a clock to feed it by."""

    def __init__(self, make: Any, at: Any, pose: Any = 0.5, **changes: Any) -> None:
        self.controller: RemotePolicyController = make(RemotePolicyController, **changes)
        self.at = at
        self.now = 50.0
        self.pose = pose
        self.controller.on_activate(at(pose), JointCommand(3), self.now)

    def send(self, position: Any = 0.5, age: float = 0.0, **rows: Any) -> None:
        command = JointCommand(3)
        command.position[:] = position
        command.stiffness[:] = 30.0
        command.damping[:] = 3.0
        for name, value in rows.items():
            getattr(command, name)[:] = value
        self.controller.receive(RemoteCommand(command.array, self.now - age))

    def tick(self, count: int = 1) -> JointCommand:
        for _ in range(count):
            self.now += PERIOD
            command = JointCommand(3)
            command.array.fill(7.0)  # everything must be written
            self.controller.update(self.at(self.pose), command, self.now, PERIOD)
        return command


@pytest.fixture
def stream(make: Any, at: Any) -> Stream:
    return Stream(make, at)


@pytest.fixture
def holding(make: Any, at: Any) -> Stream:
    return Stream(make, at, on_stale="hold")


def test_until_the_first_command_the_pose_of_entry_is_held(stream: Stream) -> None:
    stream.pose = 0.7  # pushed by hand
    command = stream.tick(1000)
    assert command.position.tolist() == [0.5] * 3
    assert not command.array[1:3].any()
    assert command.stiffness.tolist() == [20.0] * 3
    assert command.damping.tolist() == [2.0] * 3
    assert not stream.controller.remark


def test_a_command_from_before_the_activation_is_dropped(make: Any, at: Any) -> None:
    stream = Stream(make, at)
    stream.send(1.5)
    stream.controller.on_activate(at(0.5), JointCommand(3), stream.now)
    assert stream.tick(5).position.tolist() == [0.5] * 3


def test_activation_of_remote_removes_the_state_of_the_earlier_activation(
    make: Any, at: Any
) -> None:
    stream = Stream(make, at)
    stream.send(1.5, effort=4.0)
    stream.tick(50)
    assert stream.controller.remark
    stream.controller.on_activate(at(-0.3), JointCommand(3), stream.now)
    command = stream.tick()
    assert command.position.tolist() == [-0.3] * 3
    assert not command.array[1:3].any()
    assert command.stiffness.tolist() == [20.0] * 3
    assert not stream.controller.remark


def test_the_first_command_moves_the_target_no_faster_than_the_joint_may(stream: Stream) -> None:
    stream.send(2.0)
    assert stream.tick().position == pytest.approx([0.5 + VELOCITY_LIMIT * PERIOD] * 3)
    assert stream.tick().position == pytest.approx([0.5 + 2 * VELOCITY_LIMIT * PERIOD] * 3)


def test_a_command_within_reach_is_followed_exactly(stream: Stream) -> None:
    stream.send(0.52, velocity=1.0, effort=-2.0, stiffness=5.0, damping=0.5)
    command = stream.tick()
    assert command.position == pytest.approx([0.52] * 3)
    assert command.array[1:, 0].tolist() == [1.0, -2.0, 5.0, 0.5]


@given(
    targets=st.lists(
        st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3), min_size=1, max_size=30
    )
)
def test_no_stream_of_commands_makes_the_target_jump(
    make: Any, at: Any, targets: list[list[float]]
) -> None:
    stream = Stream(make, at)
    before = np.full(3, 0.5)
    for target in targets:
        stream.send(target)
        after = stream.tick().position.copy()
        assert np.all(np.abs(after - before) <= VELOCITY_LIMIT * PERIOD + 1e-12)
        before = after


def test_the_newest_of_several_commands_counts(stream: Stream) -> None:
    stream.send(0.51)
    stream.send(0.49)
    assert stream.tick().position == pytest.approx([0.49] * 3)


def test_a_command_is_fresh_up_to_the_timeout(stream: Stream) -> None:
    stream.send(0.5)
    stream.tick(9)
    assert not stream.controller.remark
    stream.tick(2)
    assert stream.controller.remark == "stale commands: the joints are passive until the next one"


def test_a_stale_stream_goes_passive(stream: Stream) -> None:
    stream.send(0.5, velocity=1.0, effort=3.0)
    stream.pose = 0.6
    command = stream.tick(20)
    assert not command.array[1:].any()
    assert command.position.tolist() == [0.6] * 3


def test_a_stale_stream_is_damped_by_default(make: Any, at: Any) -> None:
    parameters = RemotePolicyController.Parameters(stiffness=20.0, damping=2.0, command_timeout=0.1)
    assert parameters.on_stale == "damp"
    damping = Stream(make, at, on_stale="damp")
    damping.send(0.5, velocity=1.0, effort=3.0)
    damping.pose = 0.6
    command = damping.tick(20)
    assert not command.array[1:4].any()
    assert command.damping.tolist() == [2.0] * 3
    assert command.position.tolist() == [0.6] * 3
    assert damping.controller.remark == ("stale commands: the joints are damped until the next one")


def test_a_stale_stream_is_held_without_motion_with_that_parameter(holding: Stream) -> None:
    holding.send(0.52, velocity=1.0, effort=3.0)
    holding.pose = 0.9
    command = holding.tick(30)
    assert command.position == pytest.approx([0.52] * 3)
    assert not command.array[1:3].any()
    assert command.stiffness.tolist() == [30.0] * 3
    assert command.damping.tolist() == [3.0] * 3
    assert holding.controller.remark == "stale commands: the pose is held until the next one"


def test_a_held_target_stops_where_it_had_come_to(holding: Stream) -> None:
    holding.send(2.0)
    before = holding.tick(10).position.copy()
    after = holding.tick(50).position
    assert np.all(after < 2.0)
    assert np.all(after - before <= VELOCITY_LIMIT * PERIOD + 1e-12)


@pytest.mark.parametrize("policy", ["passive", "hold"])
def test_a_stream_that_comes_back_is_followed_without_a_jump(
    make: Any, at: Any, policy: str
) -> None:
    stream = Stream(make, at, on_stale=policy)
    stream.send(0.52)
    stream.pose = 0.8
    before = stream.tick(30).position.copy()
    stream.send(-1.0)
    command = stream.tick()
    assert not stream.controller.remark
    assert command.position == pytest.approx(before - VELOCITY_LIMIT * PERIOD)
    assert command.stiffness.tolist() == [30.0] * 3


def test_a_stream_that_comes_back_takes_over_from_where_the_joints_are(stream: Stream) -> None:
    stream.send(0.5)
    stream.tick(30)
    stream.pose = 2.0  # an arm without stiffness was moved by hand, in one tick
    stream.tick()
    stream.send(2.0)
    assert stream.tick().position == pytest.approx([2.0] * 3)


def test_a_command_that_waited_too_long_is_stale_on_arrival(stream: Stream) -> None:
    stream.send(2.0, age=TIMEOUT + 0.05)
    command = stream.tick()
    assert stream.controller.remark
    assert not command.array[1:].any()


def test_the_target_does_not_run_away_beyond_the_joints_range(stream: Stream) -> None:
    """Else the joint would not answer until the hidden target has come all the way back."""
    for _ in range(500):
        stream.send(1000.0)
        stream.tick()
    stream.send(1.9)
    assert stream.tick(5).position == pytest.approx([1.9] * 3)


def test_remote_uses_its_own_copy_of_a_command(stream: Stream) -> None:
    array = np.zeros((5, 3))
    array[0] = 0.5
    stream.controller.receive(RemoteCommand(array, stream.now))
    stream.tick()
    array.fill(99.0)
    assert not stream.tick().array[1:].any()


@pytest.mark.parametrize(
    "changes",
    [
        {"on_stale": "panic"},
        {"command_timeout": 0.0},
        {"command_timeout": np.inf},
        {"stiffness": -1.0},
        {"damping": np.nan},
        {"rate": 5},
    ],
)
def test_parameters_that_make_no_sense_are_refused(make: Any, changes: Any) -> None:
    with pytest.raises(ValidationError):
        make(RemotePolicyController, **changes)


def test_a_message_with_a_hundred_thousand_joints_is_refused_at_once() -> None:
    names = [f"joint {i}" for i in range(100_000)]
    values = {interface: [0.0] * len(names) for interface in COMMAND_INTERFACES}
    with pytest.raises(ControllerError, match="100000 joint names, expected 3"):
        command_array(JointSet(("a", "b", "c")), names, values)
