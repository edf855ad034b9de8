"""All slaves to PREOP, where their mailboxes work; a drive whose firmware hangs is told apart."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final

from humanoid_devices_erob.al_state import AlState, AlStatus, differing
from humanoid_devices_erob.joint_texts import said_together
from humanoid_devices_erob.ring_errors import BringUpError, HungError
from humanoid_devices_erob.state_walk import StateMaster, lead_to
from humanoid_devices_erob.timebase import Timebase

logger = logging.getLogger(__name__)

TIMEOUT: Final = 3.0  # [s] for all slaves (SOEM: EC_TIMEOUTSTATE allows 2 s)
USUAL: Final = 1.0  # [s] after which somebody who waits is told for whom


def wait_for_preop(
    master: StateMaster,
    timebase: Timebase,
    joint_at: Sequence[str],
    timeout: float = TIMEOUT,
) -> None:
    """Until all are there, for `timeout` [s] at most.

    Raises HungError naming the drives that hang, else BringUpError.
    """
    told_at = timebase.clock() + USUAL

    def waiting(states: Sequence[AlStatus]) -> None:
        nonlocal told_at
        if timebase.clock() >= told_at:
            told_at += timeout  # once
            logger.warning("waiting for PREOP: %s", differing(states, AlState.PREOP, joint_at))

    everyone = range(len(joint_at))
    states = lead_to(AlState.PREOP, everyone, master, timebase, timeout, waiting)
    problem = differing(states, AlState.PREOP, joint_at)
    if not problem:
        return
    hung = [
        (joint_at[i], f"stays in {status.state.name} when PREOP is asked for")
        for i, status in enumerate(states)
        if status.state not in (AlState.NONE, AlState.PREOP) and not status.error
    ]
    if hung:
        raise HungError(
            f"{said_together(hung)}: the firmware of the drive hangs; switch its power off and on"
        )
    raise BringUpError(f"not in PREOP: {problem}")
