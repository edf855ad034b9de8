"""Loads of a robot's links from outside: forces, masses and an obstacle."""

from collections.abc import Sequence
from typing import Final

import mujoco
import numpy as np

from humanoid_control_common.errors import ConfigError
from humanoid_twin.control.arguments import LARGEST
from humanoid_twin.physics.mujoco_plant import OBSTACLE, moving_links
from humanoid_twin.physics.plant import FloatArray

# Bits of MuJoCo's contype and conaffinity that the robot's own shapes have.
_TOUCHES: Final = 1
_NOTHING: Final = (0.0, 0.0, 0.0)


class Loads:
    """Wrenches, payloads and one obstacle in a model made by `build_model`.

    Its methods are commands of the control channel. A link that is fixed to another is part of
    that one here. All methods raise ConfigError for an unknown or immovable link and for numbers
    out of range.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, urdf: str) -> None:
        self._model, self._data = model, data
        self._links = {link: int(model.body(body).id) for link, body in moving_links(urdf).items()}
        self._masses = model.body_mass.copy()
        self._scratch = mujoco.MjData(model)  # of mj_setConst, which changes it
        self._box = int(model.geom(OBSTACLE).id)
        self._body_of_box = int(model.body(OBSTACLE).id)
        self._place = model.body(OBSTACLE).mocapid[0]

    def wrench(
        self,
        link: str,
        force: Sequence[float] = _NOTHING,
        torque: Sequence[float] = _NOTHING,
    ) -> None:
        """Apply a force [N] and a torque [Nm] to a link from now on; without both, none.

        Both are in world axes, at the link's centre of mass: hand-guiding, for example.
        """
        body = self._body(link)
        self._data.xfrc_applied[body] = [*_three(force, "force"), *_three(torque, "torque")]

    def payload(self, link: str, mass: float) -> None:
        """Fix a mass [kg] to a link's centre of mass, instead of the previous one; 0: none."""
        body = self._body(link)
        if not 0 <= mass < 1000:
            raise ConfigError(f"payload of '{link}' is {mass} kg, expected 0 to 1000")
        self._model.body_mass[body] = self._masses[body] + float(mass)
        mujoco.mj_setConst(self._model, self._scratch)  # what follows from masses

    def obstacle(self, position: Sequence[float], size: Sequence[float]) -> None:
        """Place the box, or move it: its centre and its edges, along the world's axes [m]."""
        edges = _three(size, "size")
        if not (edges > 0).all():
            raise ConfigError(f"obstacle: size is {edges.tolist()} m, expected more than 0")
        model, box, half = self._model, self._box, edges / 2
        self._data.mocap_pos[self._place] = _three(position, "position")
        model.geom_size[box] = half
        model.geom_aabb[box, 3:] = half
        model.geom_rbound[box] = np.linalg.norm(half)
        self._touch(_TOUCHES)

    def no_obstacle(self) -> None:
        """Remove the box."""
        self._touch(0)

    def _touch(self, bits: int) -> None:
        model = self._model
        model.geom_contype[self._box] = model.geom_conaffinity[self._box] = bits
        # MuJoCo tests the body's bits first; mj_setConst makes them from those of its shapes.
        model.body_contype[self._body_of_box] = model.body_conaffinity[self._body_of_box] = bits

    def _body(self, link: str) -> int:
        if link not in self._links:
            raise ConfigError(f"no link '{link}' moves, but {', '.join(self._links)}")
        return self._links[link]


def _three(values: Sequence[float], what: str) -> FloatArray:
    try:
        numbers = np.array(values, dtype=np.float64)
    except (ValueError, TypeError):
        numbers = np.empty(0)
    if numbers.shape != (3,) or not (np.abs(numbers) <= LARGEST).all():
        raise ConfigError(f"{what} is {values}, expected three numbers within ±{LARGEST:.0e}")
    return numbers
