"""What is observed of the bus itself."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from humanoid_devices_can.bus import LONGEST_PAYLOAD, BusSettings, ErrorFrame
from humanoid_devices_can.error_frames import BusEvent, ControllerState, controller_state

INVALID_HOLD: Final = 1.0  # [s] one frame stands for all that come after it
REFUSAL_GAP: Final = 0.3  # [s] without a refusal end them
_WRONG_BITS: Final = BusEvent.PROTOCOL | BusEvent.BUS_ERROR


@dataclass(slots=True)
class Health:
    """Times [s] of the latest events. Written by the threads of a session, read by any."""

    lost: str = ""  # why the adapter can't be used any more
    abandoned: bool = False  # nothing may be said any more, though the adapter is there
    was_off: bool = False  # the controller was bus-off since the session began
    drained: float = -math.inf  # the receiving thread was up to date
    data_at: float = -math.inf  # of frames from motors
    error_at: float = -math.inf
    passive_at: float = -math.inf
    unacknowledged_at: float = -math.inf
    refused_at: float = -math.inf  # the adapter took a frame, and lost it
    refusing_since: float = -math.inf
    invalid_at: float = -math.inf
    invalid: str = ""  # the latest frame that was none of a motor's
    sent: int = 0  # frames handed over to the adapter
    received: int = 0  # frames from motors
    error_frames: int = 0
    invalid_frames: int = 0
    refusals: int = 0  # of frames that the adapter had taken
    error_counters: tuple[int, int] | None = None  # transmit, receive; None: never told

    def abandon(self, reason: str) -> None:
        """Somebody else has used the bus, and said why."""
        self.lost, self.abandoned = reason, True

    def take_data(self, now: float) -> None:
        """A frame of a motor came at `now`."""
        self.received += 1
        self.data_at = now

    def take_error(self, frame: ErrorFrame, now: float) -> None:
        """An error frame came at `now`."""
        self.error_frames += 1
        if frame.event & BusEvent.COUNTERS and len(frame.data) >= LONGEST_PAYLOAD:
            self.error_counters = frame.data[6], frame.data[7]
        if frame.event & BusEvent.NO_ACKNOWLEDGE:
            self.unacknowledged_at = now
        elif frame.event & _WRONG_BITS:
            self.error_at = now
        self.take_state(controller_state(frame.event, frame.data), now)

    def take_state(self, state: ControllerState | None, now: float) -> None:
        """The controller is in `state` at `now`; None: not known."""
        if state is ControllerState.OFF:
            self.was_off = True
        if state is ControllerState.PASSIVE:
            self.passive_at = now

    def take_invalid(self, reason: str, now: float) -> None:
        """A frame came that no motor of the block should have sent."""
        if now - self.invalid_at > INVALID_HOLD:
            self.invalid = reason
        self.invalid_frames += 1
        self.invalid_at = now

    def take_refusal(self, now: float) -> None:
        """The adapter lost a frame at `now`, or shortly before."""
        if now - self.refused_at > REFUSAL_GAP:
            self.refusing_since = now
        self.refusals += 1
        self.refused_at = now

    def refuses(self, since: float) -> bool:
        """Whether it went on refusing since a time [s]; one burst too many is made good at once."""
        return self.refused_at > since and self.refused_at - self.refusing_since > REFUSAL_GAP

    def troubled(self, since: float) -> bool:
        """Whether the controller has complained of the bus since a time [s]."""
        return max(self.error_at, self.unacknowledged_at, self.passive_at) > since

    def symptom(self, bus: BusSettings, since: float, *, stuck: bool) -> str:
        """What explains, since a time [s], that motors can't be reached; empty if nothing does.

        `stuck`: frames wait that the adapter doesn't take.
        """
        if self.was_off:
            return (
                f"bus-off on {bus}: is {bus.bitrate} bit/s the motors' bitrate, are wiring and "
                "termination right? Then clear the fault"
            )
        if self.error_at > since and self.data_at <= since:
            return (
                f"only error frames arrive on {bus}: is {bus.bitrate} bit/s the motors' bitrate? "
                "Is the wiring right?"
            )
        if self.error_at > since:
            return f"error frames on {bus}: have two motors the same id? Is the wiring right?"
        # A refusal alone says nothing while motors answer: too much may have come at once.
        unheard = self.data_at <= since < self.refused_at
        if stuck or unheard or max(self.unacknowledged_at, self.passive_at) > since:
            return (
                f"nobody acknowledges on {bus}: are the motors powered? Is {bus.bitrate} bit/s "
                "their bitrate? Is the bus terminated?"
            )
        return ""
