"""A mass that a link carries."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from humanoid_control_common.errors import ConfigError

FARTHEST: Final = 1.0  # [m] from the origin of its link; beyond it the number is no length in [m]

LinkPosition: TypeAlias = tuple[float, float, float]  # [m] in the axes of a link


@dataclass(frozen=True, slots=True)
class Payload:
    """A point mass at a link of the robot.

    Raises ConfigError for a mass that is negative or not finite, and a centre of mass that is not
    three numbers within FARTHEST.
    """

    link: str
    mass: float  # [kg]
    centre_of_mass: LinkPosition = (0.0, 0.0, 0.0)  # [m] from the link's origin, in its axes

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mass) and self.mass >= 0.0):
            raise ConfigError(
                f"payload of '{self.link}': the mass is {self.mass:g} kg, expected 0 or more"
            )
        if len(self.centre_of_mass) != 3 or not all(
            abs(it) <= FARTHEST for it in self.centre_of_mass
        ):
            found = ", ".join(f"{it:g}" for it in self.centre_of_mass)
            raise ConfigError(
                f"payload of '{self.link}': the centre of mass is ({found}) m, expected three "
                f"numbers from -{FARTHEST:g} to {FARTHEST:g}"
            )

    def __str__(self) -> str:
        place = ", ".join(f"{it:.3f}" for it in self.centre_of_mass)
        return f"{self.link}: {self.mass:.3f} kg at ({place}) m"


def replaced(payloads: Sequence[Payload], new: Payload) -> tuple[Payload, ...]:
    """Return `payloads` with `new` in place of that of its link; without it if its mass is 0."""
    others = [it for it in payloads if it.link != new.link]
    return (*others, new) if new.mass > 0.0 else tuple(others)
