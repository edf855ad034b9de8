"""The joints that mode controllers claim: the key `joints` of their parameters."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any, Final

import numpy as np

from humanoid_control_common.configuration.config import Document, StrictModel, validate
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import IndexArray, JointSet
from humanoid_control_common.rules.modes import SAFE_MODES, Mode
from humanoid_controller_manager.loop.mode_controllers import are_disjoint
from humanoid_controller_manager.switching.registry import Record

KEY: Final = "joints"


class _Claim(StrictModel):
    joints: list[str]


def claimed_rows(
    name: str, mode: Mode, document: Document, joints: JointSet
) -> tuple[IndexArray | None, Document]:
    """Return the rows of the joints that controller `name` claims, and its other parameters.

    None instead of rows: it claims all `joints`.

    Raises ConfigError, with file and key, for a list that is empty, names an unknown joint or one
    twice, or belongs to a safe mode, which must own all joints.
    """
    if not isinstance(document.content, Mapping) or KEY not in document.content:
        return None, document
    own = {KEY: document.content[KEY]}
    names = validate(_Claim, Document(document.name, own, document.places)).joints
    where = f"{document.where((KEY,))}: '{KEY}' of {name}"
    if mode in SAFE_MODES:
        raise ConfigError(f"{where}: {mode.name} must own all joints: leave the key out")
    if not names:
        raise ConfigError(f"{where} is empty: name joints, or leave the key out to claim all")
    try:
        rows = joints.indices(names)
    except ConfigError as error:
        raise ConfigError(f"{where}: {error}") from error
    rest: dict[str, Any] = {key: it for key, it in document.content.items() if key != KEY}
    return rows, Document(document.name, rest, document.places)


def refuse_conflicts(records: Iterable[Record], joints: JointSet) -> None:
    """Raise ConfigError if lists of two controllers of one mode share a joint, naming both.

    So does one with a list after one that claims all joints: it would never be in charge. One that
    claims all joints waits behind the others of its mode. In a safe mode the loop's fallbacks name
    the one that they mean.
    """
    stiff = [r for r in records if r.mode is not None and r.mode not in SAFE_MODES]
    for one, other in combinations(stiff, 2):
        first, second = one.slot, other.slot
        if _rows(other) is None:
            continue
        if one.mode is other.mode and first and second and not are_disjoint(first, second):
            raise ConfigError(_conflict(one, other, joints))


def refuse_overlap(record: Record, others: Iterable[Record], joints: JointSet) -> None:
    """Raise ConfigError if `record` would take some joints of another's list, and not all of them.

    The other would lose its mode, and its remaining joints their controller.
    """
    rows = _rows(record)
    for other in others:
        theirs = _rows(other)
        if other.name == record.name or other.mode is not record.mode:
            continue
        if rows is None or theirs is None or not np.isin(theirs, rows).any():
            continue
        rest = theirs[~np.isin(theirs, rows)]
        if rest.size:
            taken = ", ".join(joints.names_at(np.intersect1d(rows, theirs)))
            left = ", ".join(joints.names_at(rest))
            raise ConfigError(
                f"{_place(record)}: '{KEY}' of {record.name}: {taken} claimed by '{other.name}' "
                f"({_place(other)}), which claims {left} as well: claim all of its joints, or none,"
                f" or first `hc unload {other.name}`"
            )


def _conflict(one: Record, other: Record, joints: JointSet) -> str:
    assert one.mode is not None
    where, elsewhere = _place(other), _place(one)
    both = f"'{one.name}' ({elsewhere}) and '{other.name}' of mode {one.mode.name}"
    lists = [_rows(record) for record in (one, other)]
    if lists[0] is not None and lists[1] is not None:
        names = ", ".join(joints.names_at(np.intersect1d(lists[0], lists[1])))
        return f"{where}: '{KEY}': {names} claimed by both {both}: leave each joint to one of them"
    return (
        f"{where}: {both} can't be in charge together: {one.name} claims all joints. Give each of "
        f"them a list '{KEY}', or put {one.name} behind those with a list: it waits there"
    )


def _rows(record: Record) -> IndexArray | None:
    slot = record.slot
    return slot.claimed.rows if slot and slot.claimed else None


def _place(record: Record) -> str:
    assert record.configured is not None
    return record.configured.side.document.where((KEY,))
