"""What a CAN bus counts, for the flight recorder: in every tick of the loop."""

from __future__ import annotations

from typing import Final

from humanoid_devices_can.session import Session

COUNTED: Final = (
    "frames sent",
    "frames received",
    "error frames",
    "invalid frames",
    "frames refused",
)


def counts(session: Session | None) -> tuple[int, ...]:
    """In the order of COUNTED, since the bus was opened last; 0 while it isn't open."""
    if session is None:
        return (0,) * len(COUNTED)
    health = session.health
    return (
        health.sent,
        health.received,
        health.error_frames,
        health.invalid_frames,
        health.refusals,
    )
