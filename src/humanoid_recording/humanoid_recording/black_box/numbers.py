"""What is remarkable about the numbers that were recorded with each tick."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.joints import FloatArray
from humanoid_recording.black_box.messages import EXECUTION

_OFTEN: Final = 0.5  # of all ticks; what grows so often counts traffic, not trouble
# CiA 402: what of a statusword tells the drive's state, and a warning; the rest changes on the way.
_STATE: Final = 0x00EF
_WORD: Final = "statusword of "
_STATES: Final = ("working counter",)  # numbers of which every change counts
_MOST: Final = 8  # changes of one number that are told

Counted = Sequence[tuple[int, Any]]  # (time [ns], Float64MultiArray with labels)


def remarks(counted: Counted, fault: int) -> Iterator[tuple[int, str]]:
    """When [ns] what changed that seldom does; `fault` [ns] is what other times are told from."""
    if len(counted) < 2:
        return
    times = np.array([time for time, _ in counted])
    values = np.array([message.data for _, message in counted])
    for i, dimension in enumerate(counted[0][1].layout.dim):
        name, column = dimension.label, values[:, i]
        if _WORD in name:
            yield from _changes(times, column.astype(int) & _STATE, name, "0x{:04X}")
        elif name.endswith(_STATES):
            yield from _changes(times, column.astype(int), name, "{}")
        elif name != EXECUTION:
            yield from _growth(times, column, name, fault)


def _changes(
    times: NDArray[np.int64], column: NDArray[np.int64], name: str, form: str
) -> Iterator[tuple[int, str]]:
    places = np.nonzero(np.diff(column))[0]
    for place in places[:_MOST]:
        before, after = (form.format(column[place + k]) for k in (0, 1))
        yield int(times[place + 1]), f"{name}: {before} -> {after}"
    if len(places) > _MOST:
        yield int(times[places[_MOST] + 1]), f"{name}: {len(places) - _MOST} more changes"


def _growth(
    times: NDArray[np.int64], column: FloatArray, name: str, fault: int
) -> Iterator[tuple[int, str]]:
    steps = np.nonzero(np.diff(column) > 0)[0]
    often = len(steps) > _OFTEN * len(column) and not name.startswith("limited")
    if not len(steps) or often:
        return
    amount = sum(max(0.0, after - before) for before, after in pairwise(column))
    last = (times[steps[-1] + 1] - fault) / 1e9
    said = f"{amount:g} times until {last:+.2f} s" if amount > 1 else "once"
    yield int(times[steps[0] + 1]), f"counted: {name}: {said}"
