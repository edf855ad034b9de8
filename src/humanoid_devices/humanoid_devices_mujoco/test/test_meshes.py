"""Meshes of all formats in MuJoCo: positions, sizes, and extensions of MuJoCo."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import mujoco
import numpy as np
import pytest

from humanoid_control_common.description.mesh_references import MeshError, with_absolute_meshes
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_controller_manager.hardware.urdf import parse_robot_description
from humanoid_devices_mujoco.mujoco_system import MujocoSystem

ARM = Path(__file__).resolve().parents[4] / "docs/examples/mesh_arm/urdf/mesh_arm.urdf"
INTERFACES = "".join(
    f'<command_interface name="{name}"/>'
    for name in ("position", "velocity", "effort", "stiffness", "damping")
) + "".join(f'<state_interface name="{name}"/>' for name in ("position", "velocity", "effort"))
BLOCK = (
    '<ros2_control name="Sim" type="system"><hardware><plugin>mujoco_ros2_control/MujocoSystem'
    '</plugin><param name="timestep">0.001</param><param name="real_time_factor">1</param>'
    "</hardware>"
    + "".join(
        f'<joint name="{name}"><param name="rotor_inertia">0.01</param>{INTERFACES}</joint>'
        for name in ("shoulder_pitch", "elbow_pitch")
    )
    + "</ros2_control></robot>"
)
# Lowest and highest corner of each link's mesh in the frame of the link [m].
UPPER = ([-0.03, -0.03, -0.02], [0.03, 0.03, 0.28])
SHELL = ([-0.025, -0.025, 0.0], [0.025, 0.025, 0.22])  # of the forearm, like its tip
TIP = ([-0.01, -0.01, 0.22], [0.01, 0.01, 0.24])


def urdf(**changes: str) -> str:
    """The arm with a simulated block; each change replaces text."""
    text = ARM.read_text().replace("</robot>", BLOCK)
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    return with_absolute_meshes(text, ARM)


def extended(extension: str) -> str:
    return urdf(**{"</robot>": f"<mujoco>{extension}</mujoco></robot>"})


def simulated(text: str) -> MujocoSystem:
    system = MujocoSystem()
    system.on_configure(parse_robot_description(text, 200.0).blocks[0])
    return system


def vertices(system: MujocoSystem, body: str) -> FloatArray:
    """Return the vertices of the meshes of a body in the world [m], shape (n, 3)."""
    model, data = system.model, system.data
    mujoco.mj_kinematics(model, data)
    found = []
    for geom in np.flatnonzero(model.geom_bodyid == model.body(body).id):
        mesh = model.geom_dataid[geom]
        start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        local = model.mesh_vert[start : start + count]
        found.append(local @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom])
    return np.concatenate(found)


def placed(box: tuple[list[float], list[float]], height: float, angle: float) -> FloatArray:
    """Return the corners of a box with a frame at `height` [m], turned about y, shape (8, 3)."""
    cos, sin = np.cos(angle), np.sin(angle)
    turn = np.array([[cos, 0, sin], [0, 1, 0], [-sin, 0, cos]])
    corners = np.array(list(product(*zip(*box, strict=True))))
    return corners @ turn.T + [0.0, 0.0, height]


def extents(points: FloatArray) -> FloatArray:
    return np.array([points.min(axis=0), points.max(axis=0)])


def test_meshes_have_the_size_and_place_of_the_drawing_at_any_angle() -> None:
    system = simulated(urdf())
    for angle in (0.0, 0.7):
        system.data.qpos[:] = [angle, 0.0]
        shoulder, elbow = 0.06, 0.28  # [m], of the joints' origins
        upper = placed(UPPER, shoulder, angle)
        far = elbow * np.array([np.sin(angle), 0.0, np.cos(angle)])
        forearm = placed(SHELL, shoulder, angle) + far
        tip = placed(TIP, shoulder, angle) + far
        for link, expected in (
            ("upper_arm_link", upper),
            ("forearm_link", np.concatenate([forearm, tip])),
        ):
            found = extents(vertices(system, link))
            assert found == pytest.approx(extents(expected), abs=1e-6)
    base = vertices(system, "world")
    assert extents(base) == pytest.approx(np.array([[-0.1, -0.1, 0], [0.1, 0.1, 0.05]]), abs=1e-6)


def test_inertia_is_that_of_the_description_not_of_the_mesh() -> None:
    model = simulated(urdf()).model
    upper = model.body("upper_arm_link")
    assert upper.mass[0] == pytest.approx(1.2)
    # A box of 60 x 60 x 300 mm and 1.2 kg.
    across, along = 1.2 * (0.06**2 + 0.3**2) / 12, 1.2 * (0.06**2 + 0.06**2) / 12
    assert sorted(upper.inertia) == pytest.approx([along, across, across], rel=1e-3)


def test_mujoco_weighs_the_meshes_where_the_description_has_it_do_so() -> None:
    model = simulated(extended('<compiler inertiafromgeom="true"/>')).model
    # MuJoCo's density of 1000 kg/m³, of the collision shape.
    assert model.body("upper_arm_link").mass[0] == pytest.approx(1000 * 0.06 * 0.06 * 0.3)


def test_visual_shapes_are_no_geoms_unless_the_description_keeps_them() -> None:
    assert simulated(urdf()).model.ngeom == 3
    assert simulated(extended('<compiler discardvisual="false"/>')).model.ngeom == 6


def test_options_and_compiler_settings_of_the_description_apply() -> None:
    option = '<option gravity="0 0 -1.62" integrator="implicitfast"/>'
    model = simulated(extended(option + '<compiler meshdir="../meshes"/>')).model
    assert model.opt.gravity.tolist() == [0.0, 0.0, -1.62]
    assert model.opt.integrator == mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    assert simulated(urdf()).model.opt.integrator == mujoco.mjtIntegrator.mjINT_EULER


def test_a_time_step_beside_that_of_the_block_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"<option timestep=…>: remove it: .* 'timestep' of"):
        simulated(extended('<option timestep="0.002"/>'))


@pytest.mark.parametrize("fuse", ["true", "false"])
def test_shapes_that_overlap_at_a_joint_do_not_push_each_other(fuse: str) -> None:
    # The upper arm reaches 10 mm into the base, which stands still.
    system = simulated(extended(f'<compiler fusestatic="{fuse}"/>'))
    mujoco.mj_forward(system.model, system.data)
    assert system.data.ncon == 0


def test_links_that_are_no_neighbours_do_collide() -> None:
    system = simulated(urdf())
    system.data.qpos[:] = [1.0, 2.9]  # folded: the end of the forearm is in the base
    mujoco.mj_forward(system.model, system.data)
    assert system.data.ncon > 0


@pytest.mark.parametrize("name", ["base.stl", "upper_arm.obj", "forearm.dae"])
def test_a_mesh_that_was_lost_since_is_named(tmp_path: Path, name: str) -> None:
    text = re.sub(rf"file://[^\"]*/{name}", f"file://{tmp_path}/{name}", urdf())
    with pytest.raises(
        MeshError, match=rf"link '.*_link': collision: mesh file://.*/{name}: it is"
    ):
        simulated(text)


def test_a_flat_mesh_to_collide_with_is_named(tmp_path: Path) -> None:
    flat = tmp_path / "flat.obj"
    flat.write_text("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n")
    text = re.sub(r"file://[^\"]*/upper_arm.obj", flat.as_uri(), urdf())
    with pytest.raises(MeshError, match=r"link 'upper_arm_link': .*flat\.obj: it is flat"):
        simulated(text)


def test_a_mesh_that_is_finer_than_mujoco_reads_is_named(tmp_path: Path) -> None:
    path, count = tmp_path / "fine.stl", 200_001
    triangles = np.zeros(count, np.dtype([("some", "<f4", (4, 3)), ("spare", "<u2")]))
    triangles["some"] = np.random.default_rng(0).random((count, 4, 3))
    path.write_bytes(bytes(80) + np.uint32(count).tobytes() + triangles.tobytes())
    text = re.sub(r"file://[^\"]*/upper_arm.obj", path.as_uri(), urdf())
    with pytest.raises(MeshError, match=r"link 'upper_arm_link': .* 200001 triangles, expected at"):
        simulated(text)


def test_a_mesh_with_holes_or_inside_out_collides_like_any_other(tmp_path: Path) -> None:
    text = (ARM.parents[1] / "meshes/upper_arm.obj").read_text()
    faces = re.findall(r"^f (.*)$", text, re.MULTILINE)
    turned = ["f " + " ".join(reversed(face.split())) for face in faces[1:]]  # one face is missing
    path = tmp_path / "shell.obj"
    path.write_text(re.sub(r"^f .*\n", "", text, flags=re.MULTILINE) + "\n".join(turned) + "\n")
    system = simulated(re.sub(r"file://[^\"]*/upper_arm.obj", path.as_uri(), urdf()))
    assert extents(vertices(system, "upper_arm_link")) == pytest.approx(
        extents(placed(UPPER, 0.06, 0.0)), abs=1e-6
    )


def test_a_mass_that_hardly_fits_its_shape_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    simulated(urdf(**{'<origin xyz="0 0 0.13"/>': '<origin xyz="0 0 130"/>'}))
    assert "link 'upper_arm_link': its centre of mass (0, 0, 130) m is 130 m outside" in caplog.text


def test_links_that_overlap_at_the_start_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    simulated(urdf())
    assert caplog.text == ""
    # The elbow is at the shoulder: the forearm is in and beside the base.
    simulated(urdf(**{'xyz="0 0 0.28" rpy="0 0 0"': 'xyz="0 0 0" rpy="3.1415926 0 0"'}))
    assert "links of the base and 'forearm_link' overlap by " in caplog.text
    assert "mm at the start and push each other apart" in caplog.text
