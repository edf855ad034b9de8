"""The 3-D view: ground, light, camera and the robot."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import viser

from humanoid_viz.state.extent import extent
from humanoid_viz.state.model import Box, Cylinder, Joint, JointKind, Mesh, RobotModel, Visual

ROBOT = "/robot"
GREY = (110, 113, 118)  # of a robot whose pose may be outdated
# Spheres up to this radius [m] look round enough with few triangles.
COARSE_RADIUS = 0.055
# The camera looks at a robot, which faces along x, from half left: at this part of its height, from
# there, in multiples of its largest extent. Nearly all of it is in view, arms in the upper half.
CAMERA_HEIGHT = 0.6
CAMERA_OFFSET = (1.36, 0.58, 0.21)


def furnish(server: viser.ViserServer) -> None:
    """Add ground, light and the first camera."""
    scene = server.scene
    scene.set_up_direction("+z")
    scene.world_axes.visible = False
    # Plain lights: without a graphics card an environment map takes a browser 7 s to prepare, and
    # shadows make each picture three times slower.
    scene.configure_environment_map(None)
    scene.configure_default_lights(enabled=False)
    scene.add_light_hemisphere(
        "/light/sky", sky_color=(226, 236, 248), ground_color=(110, 114, 122), intensity=1.9
    )
    scene.add_light_directional("/light/front", position=(3.0, 1.0, 3.0), intensity=1.9)
    scene.add_light_directional(
        "/light/back", position=(-2.0, -3.0, 2.0), color=(150, 190, 255), intensity=1.5
    )
    scene.add_grid(
        "/ground",
        infinite_grid=True,
        cell_size=0.25,
        section_size=1.0,
        cell_color=(60, 64, 70),
        section_color=(88, 94, 102),
        fade_distance=12.0,
        shadow_opacity=0.0,
    )
    server.initial_camera.fov = 0.68  # [rad]


class RobotScene:
    """Draws one RobotModel at a time; `camera` is the first one of a browser that opens later."""

    def __init__(self, scene: viser.SceneApi, camera: Any) -> None:
        self._scene = scene
        self._camera = camera
        self._model: RobotModel | None = None
        self._frames: dict[str, Any] = {}  # of the child link of each moving joint
        self._shapes: list[tuple[Any, Visual]] = []
        self._live = True

    def show(self, model: RobotModel | None, positions: Mapping[str, float], *, live: bool) -> None:
        """Draw `model` with its joints at `positions`; grey if they are outdated.

        Args:
            model: the robot; None removes it.
            positions: by joint [rad] or [m]; a joint not named is drawn at zero.
            live: whether these are the present positions.
        """
        if model is not self._model:
            self._build(model)
        if live is not self._live:
            self._paint(live)
        if model is None:
            return
        for joint in model.joints:
            if joint.kind is not JointKind.FIXED:
                pose = joint.pose_at(positions.get(joint.name, 0.0))
                frame = self._frames[joint.name]
                frame.wxyz, frame.position = pose.rotation, pose.position

    def _build(self, model: RobotModel | None) -> None:
        self._frames.clear()
        self._shapes.clear()
        self._scene.remove_by_name(ROBOT)
        self._model, self._live = model, True
        if model is None:
            return
        self._aim(model)
        self._scene.add_frame(ROBOT, show_axes=False)
        path = {model.root: f"{ROBOT}/{_node(model.root)}"}
        self._scene.add_frame(path[model.root], show_axes=False)
        for joint in model.joints:
            path[joint.child] = f"{path[joint.parent]}/{_node(joint.child)}"
            self._frames[joint.name] = self._add_link(joint, path[joint.child])
        for link, visuals in model.visuals.items():
            for i, visual in enumerate(visuals):
                shape = self._add_shape(f"{path[link]}/visual{i}", visual)
                self._shapes.append((shape, visual))

    def _aim(self, model: RobotModel) -> None:
        low, high = extent(model)
        target = (low + high) / 2
        target[2] = low[2] + CAMERA_HEIGHT * (high[2] - low[2])
        offset = np.array(CAMERA_OFFSET) * (high - low).max()
        self._camera.position, self._camera.look_at = tuple(target + offset), tuple(target)

    def _add_link(self, joint: Joint, path: str) -> Any:
        return self._scene.add_frame(
            path,
            show_axes=False,
            wxyz=joint.origin.rotation,
            position=joint.origin.position,
        )

    def _add_shape(self, path: str, visual: Visual) -> Any:
        options: dict[str, Any] = {
            "color": visual.rgba[:3],
            "cast_shadow": False,
            "receive_shadow": False,
            # One kind of shading for all shapes is one program less to compile; boxes stay sharp.
            "flat_shading": False,
            "opacity": _opacity(visual),
            "wxyz": visual.pose.rotation,
            "position": visual.pose.position,
        }
        shape = visual.shape
        if isinstance(shape, Mesh):
            # Triangles that share no vertex: the edges of a part stay sharp.
            corners = shape.vertices[shape.faces].reshape(-1, 3)
            faces = np.arange(len(corners), dtype=np.uint32).reshape(-1, 3)
            return self._scene.add_mesh_simple(path, corners, faces, side="double", **options)
        if isinstance(shape, Box):
            return self._scene.add_box(path, dimensions=shape.size, **options)
        if isinstance(shape, Cylinder):
            return self._scene.add_cylinder(
                path, radius=shape.radius, height=shape.length, **options
            )
        fineness = 4 if shape.radius > COARSE_RADIUS else 2
        return self._scene.add_icosphere(
            path, radius=shape.radius, subdivisions=fineness, **options
        )

    def _paint(self, live: bool) -> None:
        for shape, visual in self._shapes:
            shape.color = tuple(round(255 * c) for c in visual.rgba[:3]) if live else GREY
        self._live = live


def _opacity(visual: Visual) -> float | None:
    alpha = visual.rgba[3]
    return alpha if alpha < 1.0 else None


def _node(name: str) -> str:
    """Return a link's name as one step of a scene path."""
    return name.replace("/", "|")
