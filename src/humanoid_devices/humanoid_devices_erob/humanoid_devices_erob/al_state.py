"""States of the EtherCAT application layer, as slaves tell them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum

from humanoid_devices_erob.joint_texts import said_together


class AlState(IntEnum):
    """States of the EtherCAT application layer (ETG.1000.6)."""

    NONE = 0  # the slave doesn't answer
    INIT = 1
    PREOP = 2
    BOOT = 3
    SAFEOP = 4
    OP = 8


@dataclass(frozen=True, slots=True)
class AlStatus:
    """What a slave says about its state."""

    state: AlState
    error: bool = False  # it refused or left a state; must be acknowledged
    code: int = 0  # why (ETG.1000.6)
    reason: str = ""  # the same in words

    def __str__(self) -> str:
        if self.state is AlState.NONE:
            return "does not answer"
        if not self.error:
            return self.state.name
        return f"{self.state.name} with error, AL status 0x{self.code:04X} ({self.reason})"


def differing(statuses: Sequence[AlStatus], state: AlState, joint_at: Sequence[str]) -> str:
    """Which slaves are not in `state`, in words; empty if all are."""
    return said_together(
        (f"slave {i} ({joint_at[i]})", str(status))
        for i, status in enumerate(statuses)
        if status.state is not state or status.error
    )
