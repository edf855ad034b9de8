"""A filled template is the message that rclpy would have serialized (gaps have any content)."""

from __future__ import annotations

import numpy as np
import pytest
from builtin_interfaces.msg import Time
from humanoid_control_msgs.msg import ControlMode, MITCommand
from hypothesis import given
from hypothesis import strategies as st
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, Header, MultiArrayDimension, MultiArrayLayout

from humanoid_controller_manager.ros.topics.message_template import MessageTemplate, nanoseconds

NAMES = st.lists(st.text("abcdefghij_", min_size=1, max_size=9), min_size=1, max_size=16)
FIELDS = ("position", "velocity", "effort", "stiffness", "damping")
STAMPS = st.integers(0, 2**31 * 10**9 - 1)


@pytest.mark.parametrize(
    ("kind", "names_field", "count"), [(JointState, "name", 3), (MITCommand, "joint_names", 5)]
)
@given(names=NAMES, stamp=STAMPS, frame=st.sampled_from(["", "base_link"]))
def test_states_and_commands(
    kind: type, names_field: str, count: int, names: list[str], stamp: int, frame: str
) -> None:
    def message(sec: int, nanosec: int, values: np.ndarray) -> object:
        header = Header(stamp=Time(sec=sec, nanosec=nanosec), frame_id=frame)
        rows = dict(zip(FIELDS[:count], values.tolist(), strict=True))
        return kind(header=header, **{names_field: names}, **rows)

    values = np.random.default_rng(stamp).normal(size=(count, len(names)))
    template = MessageTemplate(message(0, 0, np.zeros_like(values)), count, len(names))
    filled = template.filled(stamp, values)
    wanted = message(*divmod(stamp, 10**9), values)
    assert deserialize_message(filled, kind) == wanted
    assert len(filled) == len(serialize_message(wanted))


@pytest.mark.parametrize("label", ["", "a", "ab", "abc", "abcd"])
def test_numbers_with_labels_and_without_a_header(label: str) -> None:
    layout = MultiArrayLayout(
        dim=[MultiArrayDimension(label=label), MultiArrayDimension(label="b")]
    )
    template = MessageTemplate(
        Float64MultiArray(layout=layout, data=[0.0, 0.0]), 1, 2, stamped=False
    )
    filled = template.filled(1, np.array([[1.5, -2.0]]))
    wanted = Float64MultiArray(layout=layout, data=[1.5, -2.0])
    assert deserialize_message(filled, Float64MultiArray) == wanted


@given(stamp=STAMPS, text=st.text("abcdefghij ", max_size=20))
def test_a_message_without_numbers_gets_its_stamp(stamp: int, text: str) -> None:
    def message(sec: int, nanosec: int) -> ControlMode:
        header = Header(stamp=Time(sec=sec, nanosec=nanosec))
        return ControlMode(header=header, mode=2, status_message=text, reason_codes=[text, "B"])

    filled = MessageTemplate(message(0, 0)).filled(stamp)
    wanted = message(*divmod(stamp, 10**9))
    assert deserialize_message(filled, ControlMode) == wanted
    assert nanoseconds(wanted.header.stamp) == stamp
