"""The collision shapes of the robot's links, for all checks of self-collision."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_controller_manager.hardware.urdf import RobotDescription
from humanoid_controller_manager.safety.self_collision import SelfCollisionStage
from humanoid_motion.collision.path_check import PathCheck
from humanoid_motion.collision.semantic_description import parse_disabled_pairs

if TYPE_CHECKING:  # it imports MuJoCo, which takes 0.3 s
    from humanoid_motion.collision.collision_model import CollisionModel


def link_shapes(srdf: str, description: RobotDescription, distance: float) -> "LinkShapes | None":
    """Return the shapes of the robot's links; None without an SRDF: no links are kept apart.

    `distance` [m]: that any two links keep. Raises ConfigError, MeshError, see CollisionModel.
    """
    if not srdf:
        return None
    from humanoid_motion.collision.collision_model import CollisionModel

    disabled = parse_disabled_pairs(srdf, "robot_description_semantic")
    model = CollisionModel(description.urdf, description.joints.names, disabled)
    return LinkShapes(model, distance)


class LinkShapes:
    """Makes what keeps links apart: the loop's stage, and the checks of controllers."""

    def __init__(self, model: "CollisionModel", distance: float) -> None:
        self._model, self._distance = model, distance

    def stage(self) -> SelfCollisionStage:
        """Return the stage of the loop's thread."""
        return SelfCollisionStage(self._model, self._distance)

    def path_checks(self, present: Callable[[], FloatArray]) -> Callable[[], PathCheck]:
        """Return what makes a PathCheck for a thread. `present`: see PathCheck."""
        rows = np.arange(len(self._model.reach))
        return lambda: PathCheck(self._model.another(), self._distance, present, rows)
