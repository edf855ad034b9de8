"""Choose the pairs of collision shapes whose distances count, by the rules of MuJoCo's contacts."""

import itertools
from typing import Any, Final

_BODY_BITS: Final = 16  # of each body in the number of an excluded pair


def checked_shapes(model: Any, *, neighbours: bool) -> list[tuple[int, int]]:
    """Return the pairs of shapes of `model`, an MjModel, that may touch each other.

    Shapes of links that are fixed to each other, of excluded pairs of links, and visual ones do
    not. `neighbours`: whether the two links of a joint are checked against each other.
    """
    # Shapes are in the order of their bodies, and a body comes after the one that carries it.
    excluded = set(model.exclude_signature.tolist())
    found = []
    for one, other in itertools.combinations(range(model.ngeom), 2):
        first, second = model.geom_bodyid[[one, other]].tolist()
        if (
            _collide(model, one, other)
            and model.body_weldid[first] != model.body_weldid[second]
            and (first << _BODY_BITS) + second not in excluded
            and (neighbours or not _are_neighbours(model, first, second))
        ):
            found.append((one, other))
    return found


def _collide(model: Any, one: int, other: int) -> bool:
    """Return whether none of two shapes is a visual one."""
    kinds, reaches = model.geom_contype, model.geom_conaffinity
    return bool(kinds[one] & reaches[other] or kinds[other] & reaches[one])


def _are_neighbours(model: Any, first: int, second: int) -> bool:
    """Return whether one joint moves the `second` body against the `first`, which moves itself."""
    carrier = model.body_parentid[model.body_weldid[second]]
    moved = model.body_weldid[first]  # the first of the bodies that are fixed to it; 0: the world
    return bool(moved and moved == model.body_weldid[carrier])
