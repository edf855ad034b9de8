"""The size of a robot, for a camera that shows all of it."""

from collections.abc import Iterable
from itertools import product

import numpy as np
from numpy.typing import NDArray

from humanoid_viz.state.model import (
    Box,
    Cylinder,
    Mesh,
    Pose,
    RobotModel,
    Shape,
    Sphere,
    Vector,
    add,
    multiply,
    rotate,
)

Point = NDArray[np.float64]  # [m], shape (3,)


def extent(model: RobotModel) -> tuple[Point, Point]:
    """Return the lowest and the highest corner of a box around `model`, its joints at zero.

    The box is that of the boxes around its shapes, so it may be a little too large. A robot
    without shapes has a box of 1 m.
    """
    poses = {model.root: Pose()}
    for joint in model.joints:
        poses[joint.child] = _seen_from(poses[joint.parent], joint.pose_at(0.0))
    points = [
        add(pose.position, rotate(pose.rotation, corner))
        for link, visuals in model.visuals.items()
        for visual in visuals
        for pose in (_seen_from(poses[link], visual.pose),)
        for corner in _corners(visual.shape)
    ]
    found = np.array(points or [(-0.5, -0.5, 0.0), (0.5, 0.5, 1.0)])
    return found.min(axis=0), found.max(axis=0)


def _seen_from(parent: Pose, child: Pose) -> Pose:
    return Pose(
        add(parent.position, rotate(parent.rotation, child.position)),
        multiply(parent.rotation, child.rotation),
    )


def _corners(shape: Shape) -> list[Vector]:
    low, high = _box(shape)
    return list(product(*zip(low, high, strict=True)))  # type: ignore[arg-type]  # three of them


def _box(shape: Shape) -> tuple[Iterable[float], Iterable[float]]:
    """Return the lowest and the highest corner of the box around a shape, in its frame."""
    match shape:
        case Mesh():
            return shape.vertices.min(axis=0).tolist(), shape.vertices.max(axis=0).tolist()
        case Box():
            half = [length / 2 for length in shape.size]
        case Cylinder():
            half = [shape.radius, shape.radius, shape.length / 2]
        case Sphere():
            half = [shape.radius] * 3
    return [-length for length in half], half
