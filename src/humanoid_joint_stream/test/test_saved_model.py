"""The model of MuJoCo that a client saves."""

from pathlib import Path

import pytest

from humanoid_joint_client.mjcf import Mjcf


@pytest.mark.parametrize("kind", [Path, str])
def test_a_model_is_saved_with_its_meshes(tmp_path: Path, kind: type) -> None:
    model = Mjcf("<mujoco/>", {"meshes/arm.stl": b"solid"})
    file = model.save(kind(tmp_path / "new"))
    assert file.read_text() == "<mujoco/>"
    assert (tmp_path / "new/arm.stl").read_bytes() == b"solid"
