"""Identify the payload of a hand from the torques of resting joints."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np

from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray
from humanoid_motion.dynamics.gravity_model import GravityModel
from humanoid_motion.dynamics.payload import FARTHEST, Payload

POSES: Final = 2  # at least: at one pose mass and distance can hardly be distinguished
LEAST_TORQUE: Final = 0.3  # [Nm] by 1 kg, or by 1 kg times 0.1 m: less is not significant
_HAND: Final = 0.1  # [m] the length that makes mass and first moment comparable
LIGHTEST: Final = 0.02  # [kg]; the centre of mass of a lighter payload cannot be found


class RestingPose(NamedTuple):
    """Measured angles [rad] and torques [Nm] of joints at rest, (n_joints,) each."""

    position: FloatArray
    torque: FloatArray


@dataclass(frozen=True, slots=True)
class IdentifiedPayload:
    """A payload, and how well it explains the torques."""

    payload: Payload
    residual: float  # [Nm] root mean square of what it leaves unexplained, of the joints it loads
    without: float  # [Nm] the same without a payload


def identify(model: GravityModel, link: str, poses: Sequence[RestingPose]) -> IdentifiedPayload:
    """Return the payload of `link` that explains the torques at `poses` best (least squares).

    Its centre of mass lies on the line from the origin of the link through that of the link itself:
    along the hand. A mass below 0 counts as none.

    Raises ConfigError for an unknown link, fewer than POSES poses, values that are not finite, and
    poses from which mass and distance cannot be distinguished.
    """
    if len(poses) < POSES:
        raise ConfigError(f"payload of '{link}': {len(poses)} poses, expected {POSES} at least")
    model.check_link(link)
    axis = model.along(link)
    rows, left = [], []
    for pose in poses:
        if not np.isfinite([pose.position, pose.torque]).all():
            raise ConfigError(f"payload of '{link}': a measured angle or torque is not finite")
        per_mass, per_moment = model.payload_torques(pose.position, link)
        rows.append(np.stack([per_mass, per_moment @ axis * _HAND], axis=1))
        left.append(pose.torque - model.torque(pose.position))
    effects, torques = np.concatenate(rows), np.concatenate(left)
    carries = np.abs(effects).max(axis=1) > 0.0  # the other arm does not carry it
    effects, torques = effects[carries], torques[carries]
    weakest = float(np.linalg.svd(effects, compute_uv=False).min()) if len(effects) > 1 else 0.0
    if weakest < LEAST_TORQUE:
        raise ConfigError(
            f"payload of '{link}': mass and distance cannot be distinguished: they differ by "
            f"{weakest:.2f} Nm, expected {LEAST_TORQUE:g} Nm at least: choose poses in which the "
            "hand points in other directions, one of them level"
        )
    (mass, moment), *_ = np.linalg.lstsq(effects, torques)
    mass, moment = float(mass), float(moment * _HAND)
    place = np.clip(moment / mass, -FARTHEST, FARTHEST) if mass > LIGHTEST else 0.0
    payload = Payload(link, max(mass, 0.0), tuple((axis * place).tolist()))
    explained = effects @ [payload.mass, payload.mass * place / _HAND]
    return IdentifiedPayload(payload, _mean(torques - explained), _mean(torques))


def _mean(torques: FloatArray) -> float:
    return float(np.sqrt(np.mean(torques**2)))
