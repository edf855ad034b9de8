"""The reader finds what rclpy decodes, in messages that differ in stamp and numbers only."""

from __future__ import annotations

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from humanoid_control_msgs.msg import MITCommand
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Header

from humanoid_controller_manager.ros.topics.message_template import nanoseconds
from humanoid_controller_manager.ros.topics.rows_reader import RowsReader

TEXTS = st.text("abcäß_/ ", max_size=9)
NAMES = st.lists(TEXTS, min_size=1, max_size=16)
STAMPS = st.integers(-(2**31) * 10**9, 2**31 * 10**9 - 1)
FIELDS = ("position", "velocity", "effort", "stiffness", "damping")


def command(frame_id: str, names: list[str], values: np.ndarray, stamp: int = 0) -> MITCommand:
    sec, nanosec = divmod(stamp, 10**9)
    header = Header(stamp=Time(sec=sec, nanosec=nanosec), frame_id=frame_id)
    rows = dict(zip(FIELDS, values.tolist(), strict=True))
    return MITCommand(header=header, joint_names=names, **rows)


def values_of(message: MITCommand) -> list[list[float]]:
    return [list(getattr(message, field)) for field in FIELDS]


@given(names=NAMES, frame_id=TEXTS, stamp=STAMPS)
def test_stamp_and_numbers_are_those_of_the_message(
    names: list[str], frame_id: str, stamp: int
) -> None:
    values = np.random.default_rng(abs(stamp)).normal(size=(5, len(names)))
    found = RowsReader(frame_id, names, 5).read(
        serialize_message(command(frame_id, names, values, stamp))
    )
    assert found is not None
    assert found[0] == stamp
    np.testing.assert_array_equal(found[1], values)
    assert found[1].flags.owndata
    assert found[1].flags.c_contiguous


def test_joint_states_have_three_rows() -> None:
    message = JointState(name=["a", "b"], position=[1.0, 2.0], velocity=[3.0, 4.0], effort=[5.0, 6])
    found = RowsReader("", ["a", "b"], 3).read(serialize_message(message))
    assert found is not None
    assert found[1].tolist() == [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]


@given(data=st.data())
def test_a_byte_that_means_something_else_is_never_taken_for_the_known_one(
    data: st.DataObject,
) -> None:
    """Whatever changes: what is read is what rclpy decodes, of the known names and frame."""
    names = ["left_elbow", "right_elbow", "hip"]
    raw = bytearray(serialize_message(command("base", names, np.full((5, 3), 0.25))))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    found = RowsReader("base", names, 5).read(bytes(raw))
    if found is not None:
        message = deserialize_message(bytes(raw), MITCommand)
        assert list(message.joint_names) == names
        assert message.header.frame_id == "base"
        assert nanoseconds(message.header.stamp) == found[0]
        np.testing.assert_array_equal(found[1], values_of(message))


@pytest.mark.parametrize(
    "other",
    [
        command("", ["a", "c"], np.zeros((5, 2))),
        command("", ["b", "a"], np.zeros((5, 2))),
        command("", ["a"], np.zeros((5, 1))),
        command("", ["a", "b", "c"], np.zeros((5, 3))),
        command("base", ["a", "b"], np.zeros((5, 2))),
        MITCommand(joint_names=["a", "b"], position=[0.0, 0.0]),
        MITCommand(
            joint_names=["a", "b"],
            position=[0.0] * 2,
            velocity=[0.0] * 2,
            effort=[0.0] * 2,
            stiffness=[0.0] * 3,
            damping=[0.0],
        ),
    ],
)
def test_another_message_is_not_read(other: MITCommand) -> None:
    assert RowsReader("", ["a", "b"], 5).read(serialize_message(other)) is None


def test_big_endian_data_are_not_read() -> None:
    data = bytearray(serialize_message(command("", ["a"], np.zeros((5, 1)))))
    data[1] = 0
    assert RowsReader("", ["a"], 5).read(bytes(data)) is None


@pytest.mark.parametrize("length", [0, 3, 50, -8, -1])
def test_a_part_of_a_message_is_not_read(length: int) -> None:
    data = serialize_message(command("", ["a", "b"], np.zeros((5, 2))))
    assert RowsReader("", ["a", "b"], 5).read(data[:length]) is None


def test_a_longer_message_is_not_read() -> None:
    data = serialize_message(command("", ["a", "b"], np.zeros((5, 2))))
    assert RowsReader("", ["a", "b"], 5).read(data + bytes(8)) is None
