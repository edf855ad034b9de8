"""Conversion of counts in ring order to the joint frame and back: sign, offset and order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.robot.mit_interface import JointState
from humanoid_devices_erob.drive.joint_frame import JointFrame, as_wire_counts
from humanoid_devices_erob.master.process_image import ProcessImage
from humanoid_devices_erob.protocol.pdo import RX_STRUCT, TX_STRUCT
from humanoid_devices_erob.settings import parse_settings

QUARTER = 524288 // 4  # counts of a quarter turn


def test_image_is_packed_in_the_layout_of_the_wire() -> None:
    image = ProcessImage(2)
    image.controlword[:] = 15, 6
    image.target[:] = -123456, 2**31 - 1
    assert image.pack() == RX_STRUCT.pack(15, -123456, 8) + RX_STRUCT.pack(6, 2**31 - 1, 8)


def test_image_is_unpacked_from_the_layout_of_the_wire() -> None:
    image = ProcessImage(2)
    image.unpack(TX_STRUCT.pack(5687, -7, 100000, -300) + TX_STRUCT.pack(4616, 8, -9, 1000))
    assert image.statusword.tolist() == [5687, 4616]
    assert image.position.tolist() == [-7, 8]
    assert image.velocity.tolist() == [100000, -9]
    assert image.torque.tolist() == [-300, 1000]


def test_inputs_of_another_length_are_refused() -> None:
    with pytest.raises(HardwareError, match="23 bytes of inputs from 2 drives"):
        ProcessImage(2).unpack(bytes(23))


def test_direction_and_offset_act_on_position_and_direction_alone_on_the_rates(make_info) -> None:
    info = make_info(2, calibration=[(-1, 0.5), (1, -0.25)], joint={"rated_torque": "20"})
    frame = JointFrame(parse_settings(info))
    image, state = ProcessImage(2), JointState(2)
    image.position[:] = QUARTER, QUARTER
    image.velocity[:] = QUARTER, QUARTER
    image.torque[:] = 100, 100  # a tenth of the rated torque
    frame.measure(image, state)
    np.testing.assert_allclose(state.position, [-(math.pi / 2 - 0.5), math.pi / 2 + 0.25])
    np.testing.assert_allclose(state.velocity, [-math.pi / 2, math.pi / 2])
    np.testing.assert_allclose(state.effort, [-2.0, 2.0])


def test_ring_order_is_not_joint_order(make_info) -> None:
    frame = JointFrame(parse_settings(make_info(3, positions=[2, 0, 1])))
    image, state = ProcessImage(3), JointState(3)
    image.position[:] = 0, QUARTER, 2 * QUARTER
    frame.measure(image, state)
    np.testing.assert_allclose(state.position, [math.pi, 0.0, math.pi / 2])
    np.testing.assert_allclose(frame.to_counts(state.position, image), image.position)
    assert frame.to_ring(np.array([True, False, False])).tolist() == [False, False, True]


@given(counts=st.lists(st.integers(-(2**31), 2**31 - 1), min_size=3, max_size=3))
def test_measured_position_as_a_command_is_the_same_count(frame_of_three, counts) -> None:
    image, state = ProcessImage(3), JointState(3)
    image.position[:] = counts
    frame_of_three.measure(image, state)
    assert as_wire_counts(frame_of_three.to_counts(state.position, image)).tolist() == counts


@pytest.fixture(scope="module")
def frame_of_three(tmp_path_factory: pytest.TempPathFactory) -> JointFrame:
    from types import SimpleNamespace

    from humanoid_control_common.robot.calibration import Calibration

    return JointFrame(
        SimpleNamespace(
            calibration=Calibration(np.array([1.0, -1.0, -1.0]), np.array([0.1, -2.0, 3.0])),
            ring_position=np.array([1, 2, 0]),
            rated_torque=np.full(3, 30.0),
            velocity_limit=np.full(3, 4.0),
            joints=("a", "b", "c"),
        )
    )


def test_target_beyond_the_range_of_the_wire_is_saturated() -> None:
    counts = as_wire_counts(np.array([1e12, -1e12, 0.5, 1.5]))
    assert counts.tolist() == [2**31 - 1, -(2**31), 0, 2]
