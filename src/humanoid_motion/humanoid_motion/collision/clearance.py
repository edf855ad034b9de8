"""Distances of links: the values of the collision check."""

from dataclasses import dataclass
from typing import Final, Self

DETECTED: Final = 0.10  # [m]; larger distances count as this one


@dataclass(frozen=True, slots=True, order=True)
class LinkPair:
    """Two links, in alphabetical order."""

    first: str
    second: str

    @classmethod
    def of(cls, one: str, other: str) -> Self:
        """Return the pair of two links, in either order."""
        return cls(*sorted((one, other)))

    def __str__(self) -> str:
        return f"{self.first} and {self.second}"


@dataclass(frozen=True, slots=True)
class Clearance:
    """The smallest distance between two links that are checked against each other."""

    distance: float  # [m]; negative: they overlap
    links: LinkPair | None  # None: no pair is nearer than DETECTED

    def __str__(self) -> str:
        if self.links is None:
            return f"no links nearer than {1000 * self.distance:.0f} mm"
        return f"{self.links} are {1000 * self.distance:.0f} mm apart"
