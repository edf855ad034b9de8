"""Whole turns of the output between an encoder and its joint.

An eRob counts turns while its battery lasts. With a weak one it starts at a power-up within one
turn (a public host project; error 0x730F), and everything is off by whole turns from then on.
"""

from __future__ import annotations

from math import ceil, floor, tau
from typing import Final

MOST_OUTSIDE: Final = 0.5  # [rad] that a joint may be beyond its limits and still be told
SHARE_OUTSIDE: Final = 0.25  # of the angle that the range leaves of a turn: the same


def turns_into_range(angle: float, lower: float, upper: float) -> int | None:
    """Whole turns that bring `angle` [rad] to where the joint can be; None if that isn't clear.

    Exactly one number of turns must lead into the range, or one near to it and all others far.
    """
    inside = range(ceil((lower - angle) / tau), floor((upper - angle) / tau) + 1)
    if inside:
        return inside[0] if len(inside) == 1 else None
    near = min(MOST_OUTSIDE, SHARE_OUTSIDE * (tau - (upper - lower)))
    below, above = floor((lower - angle) / tau), ceil((upper - angle) / tau)
    if angle + tau * above - upper <= near:
        return above
    return below if lower - angle - tau * below <= near else None
