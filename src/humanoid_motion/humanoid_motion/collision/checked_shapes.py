"""Choose the pairs of collision shapes whose distances count, by the rules of MuJoCo's contacts."""

import itertools
from collections.abc import Iterator
from typing import Any, Final

_BODY_BITS: Final = 16  # of each body in the number of an excluded pair


def checked_shapes(model: Any, *, neighbours: bool) -> list[tuple[int, int]]:
    """Return the pairs of shapes of `model`, an MjModel, that may touch each other.

    Shapes of links that are fixed to each other, of excluded pairs of links, and visual ones do
    not. `neighbours`: whether the two links of a joint are checked against each other.
    """
    excluded = set(model.exclude_signature.tolist())
    return [
        (one, other)
        for one, other in itertools.combinations(range(model.ngeom), 2)
        if _collide(model, one, other)
        and not excluded & set(_signatures(model, one, other))
        and (neighbours or not _are_neighbours(model, one, other))
    ]


def _collide(model: Any, one: int, other: int) -> bool:
    """Return whether shapes may touch: none is a visual one, and their links are not fixed."""
    kinds, reaches = model.geom_contype, model.geom_conaffinity
    if not (kinds[one] & reaches[other] or kinds[other] & reaches[one]):
        return False
    first, second = model.geom_bodyid[[one, other]]
    return bool(model.body_weldid[first] != model.body_weldid[second])


def _signatures(model: Any, one: int, other: int) -> Iterator[int]:
    """Yield the number of the pair of both links, in either order."""
    bodies = model.geom_bodyid[[one, other]].tolist()
    for first, second in (bodies, reversed(bodies)):
        yield (first << _BODY_BITS) + second


def _are_neighbours(model: Any, one: int, other: int) -> bool:
    """Return whether one joint moves both links against each other, and none of them is fixed."""
    moved = model.body_weldid[model.geom_bodyid[[one, other]]]  # the first link after the joint
    if not moved.all():
        return False
    carriers = model.body_weldid[model.body_parentid[moved]]
    return bool(moved[0] == carriers[1] or moved[1] == carriers[0])
