"""Clears faults: asks for the reset, waits until the drives are well, lets requests in again."""

from __future__ import annotations

from typing import Any, Final

from humanoid_control_msgs.msg import SafetyStatus

from humanoid_control_cli.client import Client
from humanoid_control_cli.errors import RefusedError
from humanoid_control_cli.status import LATCHED

CLEAR_FAULT: Final = "/mode_manager/clear_fault"
LATCHED_TIME: Final = 0.5  # [s] in which what all sources said last arrives
RESET_SENT: Final = "reset sent"  # how the mode manager begins while a fault is still there


def clear_faults(client: Client) -> str:
    """What the mode manager says. Raises RefusedError with what is still wrong after the timeout.

    Waits only if the reset was sent: what forbids it doesn't go away by itself.
    """
    levels: dict[str, int] = {}

    def listen(message: Any) -> None:
        levels[message.source] = message.level

    def well() -> bool:
        return all(level < SafetyStatus.FAULT for level in levels.values())

    client.subscribe(SafetyStatus, "/safety_status", listen, LATCHED)
    try:
        return client.trigger(CLEAR_FAULT)
    except RefusedError as refusal:
        if not str(refusal).startswith(RESET_SENT):
            raise
        client.wait(lambda: False, LATCHED_TIME)
        if not client.wait(well, client.timeout):
            raise
    return client.trigger(CLEAR_FAULT)
