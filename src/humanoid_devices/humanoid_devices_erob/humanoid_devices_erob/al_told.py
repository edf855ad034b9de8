"""The slaves' AL states as pysoem tells them."""

from __future__ import annotations

import pysoem

from humanoid_devices_erob.al_state import AlState, AlStatus


def describe_al_code(code: int) -> str:
    """An AL status code (16 bits) with its meaning, as messages have it."""
    return f"AL status 0x{code:04X} ({pysoem.al_status_code_to_string(code)})"


def al_status(state: int, code: int) -> AlStatus:
    """The status behind pysoem's `state` and `al_status` of a slave."""
    try:
        known = AlState(state & 0xF)
    except ValueError:  # several bits: in between
        return AlStatus(AlState.NONE)
    if not state & pysoem.STATE_ERROR:
        return AlStatus(known)
    return AlStatus(known, True, code, pysoem.al_status_code_to_string(code))
