"""A robot to draw: links of coloured shapes, and joints that move them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from humanoid_control_common.description.mesh_files import Faces, Vertices

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # w, x, y, z; unit length


@dataclass(frozen=True, slots=True)
class Pose:
    """A frame seen from its parent."""

    position: Vector = (0.0, 0.0, 0.0)  # [m]
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Box:
    """A box around its origin."""

    size: Vector  # [m]


@dataclass(frozen=True, slots=True)
class Cylinder:
    """A cylinder along z, around its origin."""

    radius: float  # [m]
    length: float  # [m]


@dataclass(frozen=True, slots=True)
class Sphere:
    """A sphere around its origin."""

    radius: float  # [m]


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """The triangles of one colour of a mesh."""

    vertices: Vertices  # [m], shape (n, 3)
    faces: Faces  # shape (m, 3)


Shape = Box | Cylinder | Sphere | Mesh


@dataclass(frozen=True, slots=True)
class Visual:
    """One coloured shape of a link."""

    pose: Pose
    shape: Shape
    rgba: tuple[float, float, float, float]  # 0 to 1


class JointKind(Enum):
    """Kind of motion of a joint."""

    FIXED = "fixed"
    TURNING = "turning"
    SLIDING = "sliding"


@dataclass(frozen=True, slots=True)
class Joint:
    """A joint between two links."""

    name: str
    kind: JointKind
    parent: str
    child: str
    origin: Pose
    axis: Vector  # unit length, in the joint's frame

    def pose_at(self, position: float) -> Pose:
        """Return the child's pose in the parent at `position` [rad], for a sliding joint [m]."""
        x, y, z = self.axis
        if self.kind is JointKind.TURNING:
            sine = math.sin(position / 2)
            turn = (math.cos(position / 2), sine * x, sine * y, sine * z)
            return Pose(self.origin.position, multiply(self.origin.rotation, turn))
        if self.kind is JointKind.SLIDING:
            shift = rotate(self.origin.rotation, (position * x, position * y, position * z))
            return Pose(add(self.origin.position, shift), self.origin.rotation)
        return self.origin


@dataclass(frozen=True, slots=True)
class RobotModel:
    """A tree of links, as far as it is drawn."""

    name: str
    root: str
    visuals: Mapping[str, tuple[Visual, ...]]  # by link
    joints: tuple[Joint, ...]  # a joint comes after the one that carries its parent
    not_drawn: tuple[str, ...] = ()  # links with a mesh that can't be read here

    @property
    def moving_joints(self) -> tuple[str, ...]:
        """Names of the joints that have a position, in the order of the description's tree."""
        return tuple(joint.name for joint in self.joints if joint.kind is not JointKind.FIXED)


def add(a: Vector, b: Vector) -> Vector:
    """Return the sum of two vectors."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def multiply(a: Quaternion, b: Quaternion) -> Quaternion:
    """Return rotation `b` followed by rotation `a`."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def rotate(rotation: Quaternion, vector: Vector) -> Vector:
    """Return `vector` turned by `rotation`."""
    w, x, y, z = rotation
    _, rx, ry, rz = multiply(multiply(rotation, (0.0, *vector)), (w, -x, -y, -z))
    return (rx, ry, rz)


def rotation_from_rpy(roll: float, pitch: float, yaw: float) -> Quaternion:
    """Return roll, pitch and yaw [rad] about fixed axes, as in a URDF, as a quaternion."""
    about_x = (math.cos(roll / 2), math.sin(roll / 2), 0.0, 0.0)
    about_y = (math.cos(pitch / 2), 0.0, math.sin(pitch / 2), 0.0)
    about_z = (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))
    return multiply(about_z, multiply(about_y, about_x))
