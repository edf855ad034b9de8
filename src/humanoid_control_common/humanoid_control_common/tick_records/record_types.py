"""The types of the records of `record_layout` in numpy."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.tick_records.record_layout import (
    CODES,
    CONTROLLER,
    TEXT,
    RecordFacts,
)

Records = NDArray[np.void]


def tick_type(facts: RecordFacts) -> np.dtype[np.void]:
    """Return the type of one tick. Counts of limited commands and buses are since the start."""
    joints = len(facts.joints)
    return np.dtype(
        [
            ("begin", "<u8"),
            ("monotonic", "<i8"),  # [ns]
            ("wall", "<i8"),  # [ns] since the epoch
            ("tick", "<u8"),
            ("now", "<f8"),  # [s], the loop's time
            ("execution", "<f8"),  # [s] of the tick before
            ("overruns", "<u8"),
            ("switch_number", "<u4"),
            ("mode", "u1"),
            ("preparing", "u1"),
            ("unused", "<u2"),
            ("controller", f"S{CONTROLLER}"),
            ("sources", "<u4", (len(facts.sources), 2)),  # level and flags
            ("counters", "<i8", (len(facts.counters),)),
            ("limited", "<i8", (len(facts.limited), joints)),
            ("state", "<f8", (3, joints)),  # rows as in JointState
            ("command", "<f8", (5, joints)),  # rows as in JointCommand
            ("end", "<u8"),
        ]
    )


EVENT_TYPE: Final = np.dtype(
    [
        ("begin", "<u8"),
        ("monotonic", "<i8"),  # [ns]
        ("wall", "<i8"),  # [ns] since the epoch
        ("kind", "<u4"),
        ("level", "<u4"),
        ("text", f"S{TEXT}"),
        ("codes", f"S{CODES}"),
        ("end", "<u8"),
    ]
)
