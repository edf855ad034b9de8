"""Find the pairs of links that need no collision check, with the reason of each."""

import itertools
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_motion.collision.clearance import LinkPair
from humanoid_motion.collision.collision_model import CollisionModel
from humanoid_motion.collision.semantic_description import Cause

POSES: Final = 1000  # random ones; a pair that overlaps at all of them always does
_MOST_JOINTS: Final = 3  # between two links, for the proof that they never touch
_MOST_POSES: Final = 1_000_000  # of one proof


def disabled_pairs(
    model: CollisionModel,
    lower: FloatArray,
    upper: FloatArray,
    go_on: Callable[[int, int], bool] = lambda _done, _count: True,
) -> tuple[dict[LinkPair, Cause], list[LinkPair]]:
    """Return the pairs of `model`, built with no disabled pair, that need no check.

    And the pairs that could not be decided: they stay enabled, as do those with more than three
    joints between them. NEVER is proven for the whole range, not sampled. `lower`, `upper`: the
    range of each joint, (n_joints,) [rad]. `go_on(proofs_done, proofs)` is called again and again;
    False ends the proofs.
    """
    found, doubtful = _without_proof(model, lower, upper)
    undecided = []
    for done, (pair, between) in enumerate(doubtful.items()):
        may = partial(go_on, done, len(doubtful))
        never = _never_touch(model, pair, between, lower, upper, may)
        if never:
            found[pair] = Cause.NEVER
        elif never is None:
            undecided.append(pair)
    return found, undecided


def _without_proof(
    model: CollisionModel, lower: FloatArray, upper: FloatArray
) -> tuple[dict[LinkPair, Cause], dict[LinkPair, list[int]]]:
    """Return the pairs whose cause shows at single poses, and those to prove, with their joints."""
    found: dict[LinkPair, Cause] = {}
    doubtful: dict[LinkPair, list[int]] = {}
    zero = model.pairs(_zero(lower, upper))
    random = np.random.default_rng(0).uniform(lower, upper, (POSES, len(lower)))
    overlapping = [
        {pair for pair, distance in model.pairs(q).items() if distance < 0.0} for q in random
    ]
    always = set.intersection(*overlapping)
    for pair in _pairs_with_shapes(model):
        between = model.joints_between(pair)
        if not between:
            continue  # fixed to each other: no check at all
        if len(between) == 1:
            found[pair] = Cause.ADJACENT
        elif pair in always:
            found[pair] = Cause.ALWAYS
        elif zero.get(pair, 1.0) < 0.0:
            found[pair] = Cause.DEFAULT
        elif len(between) <= _MOST_JOINTS:
            doubtful[pair] = between
    return found, doubtful


def _zero(lower: FloatArray, upper: FloatArray) -> FloatArray:
    """Return the pose in the range of all joints that is nearest to the zero pose."""
    return np.clip(np.zeros(len(lower)), lower, upper)


def _pairs_with_shapes(model: CollisionModel) -> Iterator[LinkPair]:
    for one, other in itertools.combinations(sorted(set(model.names)), 2):
        yield LinkPair.of(one, other)


def _never_touch(
    model: CollisionModel,
    pair: LinkPair,
    joints: list[int],
    lower: FloatArray,
    upper: FloatArray,
    go_on: Callable[[], bool],
) -> bool | None:
    """Return whether the two links touch nowhere in the range of the joints between them.

    None: it took too long, or `go_on` ended it.

    From the distance in the middle of a box of joint angles follows the smallest one in it. A box
    for which that is not above 0 is cut in two.
    """
    boxes = [(lower[joints], upper[joints])]
    position = _zero(lower, upper)
    reach = model.reach_of((pair.first, pair.second))[joints]
    for _ in range(_MOST_POSES):
        if not boxes:
            return True
        if not go_on():
            return None
        low, high = boxes.pop()
        position[joints] = (low + high) / 2.0
        distance = model.between(pair, position)
        if distance <= 0.0:
            return False
        if distance > reach @ (high - low) / 2.0:
            continue
        widest = int(np.argmax(reach * (high - low)))
        middle_low, middle_high = low.copy(), high.copy()
        middle_low[widest] = middle_high[widest] = position[joints][widest]
        boxes += [(low, middle_high), (middle_low, high)]
    return None
