"""Mountings of drives, from a file."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from test_support.twin.prime_actuators import CAN_JOINTS, JOINTS, RING_JOINTS

from humanoid_control_common.errors import ConfigError
from humanoid_twin.mounting import Mounting, load_mountings


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], Any]:
    def loaded(text: str) -> Any:
        path = tmp_path / "mountings.yaml"
        path.write_text(text)
        return load_mountings(path, ("elbow", "wrist"))

    return loaded


def test_joints_have_the_directions_and_offsets_of_the_file(load):
    assert load("elbow: {direction: -1, offset: 0.25}\nwrist: {direction: 1, offset: -3}") == {
        "elbow": Mounting(-1, 0.25),
        "wrist": Mounting(1, -3.0),
    }


REFUSALS = {
    "": "expected joints",
    "[1]": "expected joints",
    "elbow: [": "mountings",
    "knee: {direction: 1, offset: 0}": "no joint 'knee', there are elbow, wrist",
    "elbow: {direction: 1}": "expected direction and offset",
    "elbow: {direction: 1, offset: 0, id: 3}": "expected direction and offset",
    "elbow: 1": "expected direction and offset",
    "elbow: {direction: 2, offset: 0}": "elbow.*direction 2",
    "elbow: {direction: true, offset: 0}": "True is no number",
    "elbow: {direction: 1, offset: .nan}": "elbow.*finite",
    "elbow: {direction: 1, offset: x}": "'x' is no number",
}


def test_a_file_that_will_not_do_is_refused_with_the_reason(load, tmp_path):
    for text, why in REFUSALS.items():
        with pytest.raises(ConfigError, match=why):
            load(text)
    with pytest.raises(ConfigError, match="No such file"):
        load_mountings(tmp_path / "none.yaml", ("elbow",))


def test_prime_has_the_joints_and_ids_of_the_documents():
    arm = ["shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow_pitch", "wrist_yaw"]
    assert (*(f"left_{j}" for j in arm), *(f"right_{j}" for j in arm)) == RING_JOINTS
    assert CAN_JOINTS == {
        0x16: "left_wrist_roll", 0x17: "left_wrist_pitch",
        0x26: "right_wrist_roll", 0x27: "right_wrist_pitch",
    }  # fmt: skip
    assert len(JOINTS) == len(set(JOINTS)) == 14
