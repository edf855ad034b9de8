"""Health of a bus: error counters, lost and refused frames, and motors that share an id."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_devices_can.bus.bus import LONGEST_PAYLOAD, BusSettings, ErrorFrame
from humanoid_devices_can.bus.error_frames import (
    BusEvent,
    ControllerState,
    controller_state,
    not_acknowledged,
)
from humanoid_devices_can.reason_codes import BUS_OFF, ERROR_FRAMES, NOT_ACKNOWLEDGED

_TOLERANCE: Final = 1.3  # times the frames of one motor
_ANSWERS: Final = 20.0  # more than requests; and late answers that are still allowed
_BACKLOG: Final = 1.0  # [s] of feedback that may come at once after the receiver was held up
_EXCESS: Final = 0.5  # [s] of feedback too many
# Times the excess that is too many: once a motor is alone, its excess is gone within a second.
_CEILING: Final = 1.2


class FrameCounts:
    """Counts the frames of each motor against those expected.

    Args:
        motors: number of motors.
        rate: frames per second that one motor sends by itself; 0: one per order.
    """

    def __init__(self, motors: int, rate: float) -> None:
        self.rate = rate
        self.requests = [0] * motors  # sent
        self.answers = [0] * motors  # received
        self._rate = rate * _TOLERANCE
        self._floor = -rate * _BACKLOG if rate else -_ANSWERS
        self._most = rate * _EXCESS if rate else _ANSWERS
        self._excess = [0.0] * motors
        self._last = [0.0] * motors  # [s]

    def requested(self, motor: int) -> None:
        """Count a request that was sent: one motor answers with one frame."""
        self.requests[motor] += 1
        if not self._rate:
            self._excess[motor] = max(self._excess[motor] - _TOLERANCE, self._floor)

    def received(self, motor: int, now: float, *, answers: bool = True) -> None:
        """Count a frame received at `now` [s]; `answers`: it is no heartbeat or fault report."""
        if not (answers or self._rate):
            return
        self.answers[motor] += 1
        excess = max(self._left(motor, now), self._floor) + 1.0
        self._excess[motor] = min(excess, self._most * _CEILING)
        self._last[motor] = now

    def are_too_many(self, motor: int, now: float) -> bool:
        """Return whether the frames until `now` [s] are too many for one motor."""
        return self._left(motor, now) > self._most

    def forget(self, motors: Iterable[int]) -> None:
        """Judge the frames of `motors` anew from now on."""
        for motor in motors:
            self._excess[motor] = 0.0

    def _left(self, motor: int, now: float) -> float:
        return self._excess[motor] - self._rate * (now - self._last[motor])


INVALID_HOLD: Final = 1.0  # [s] for which the text of one invalid frame is kept
REFUSAL_GAP: Final = 0.3  # [s] without a refusal end a series of refusals
_WRONG_BITS: Final = BusEvent.PROTOCOL | BusEvent.BUS_ERROR


@dataclass(slots=True)
class Health:
    """Times [s] of the latest events. Written by the threads of a session, read by any."""

    lost: Reason = NO_REASON  # why the adapter can no longer be used
    abandoned: bool = False  # nothing may be sent, although the adapter is there
    was_off: bool = False  # the controller was bus-off since the session began
    drained: float = -math.inf  # the receiving thread was up to date
    confirmed: float = -math.inf  # so was the adapter; see Bus
    data_at: float = -math.inf  # a frame from a motor
    error_at: float = -math.inf
    passive_at: float = -math.inf
    unacknowledged_at: float = -math.inf
    refused_at: float = -math.inf  # the adapter accepted a frame and then refused it
    refusing_since: float = -math.inf
    invalid_at: float = -math.inf
    invalid: str = ""  # text of the latest frame that no motor of the block sends
    sent: int = 0  # frames handed over to the adapter
    received: int = 0  # frames from motors
    error_frames: int = 0
    invalid_frames: int = 0
    refusals: int = 0  # of frames that the adapter had accepted
    error_counters: tuple[int, int] | None = None  # transmit, receive; None: not reported

    def abandon(self, reason: Reason) -> None:
        """Note that the guard has taken over the bus; nothing more may be sent."""
        self.lost, self.abandoned = reason, True

    def take_data(self, now: float) -> None:
        """Count a frame of a motor."""
        self.received += 1
        self.data_at = now

    def take_error(self, frame: ErrorFrame, now: float) -> None:
        """Count an error frame and note what it reports."""
        self.error_frames += 1
        if frame.event & BusEvent.COUNTERS and len(frame.data) >= LONGEST_PAYLOAD:
            self.error_counters = frame.data[6], frame.data[7]
        if not_acknowledged(frame.event, frame.data):
            self.unacknowledged_at = now
        elif frame.event & _WRONG_BITS:
            self.error_at = now
        self.take_state(controller_state(frame.event, frame.data), now)

    def take_state(self, state: ControllerState | None, now: float) -> None:
        """Note the controller's state; None: unknown."""
        if state is ControllerState.OFF:
            self.was_off = True
        if state is ControllerState.PASSIVE:
            self.passive_at = now

    def take_invalid(self, reason: str, now: float) -> None:
        """Count a frame that no motor of the block should have sent."""
        if now - self.invalid_at > INVALID_HOLD:
            self.invalid = reason
        self.invalid_frames += 1
        self.invalid_at = now

    def take_refusal(self, now: float) -> None:
        """Count a frame that the adapter refused at `now` or shortly before."""
        if now - self.refused_at > REFUSAL_GAP:
            self.refusing_since = now
        self.refusals += 1
        self.refused_at = now

    def refuses(self, since: float) -> bool:
        """Return whether refusals continue since a time [s]; a single burst does not count."""
        return self.refused_at > since and self.refused_at - self.refusing_since > REFUSAL_GAP

    def disturbed(self, since: float) -> bool:
        """Return whether the controller has reported errors since a time [s]."""
        return max(self.error_at, self.unacknowledged_at, self.passive_at) > since

    def symptom(self, bus: BusSettings, since: float, *, stuck: bool) -> Reason:
        """Return why motors can't be reached since a time [s], if the bus shows a reason.

        `stuck`: the adapter does not accept the waiting frames.
        """
        if self.was_off:
            return Reason.of(
                BUS_OFF,
                f"bus-off on {bus}: is {bus.bitrate} bit/s the motors' bitrate, are wiring and "
                "termination right? Then clear the fault",
            )
        if self.error_at > since and self.data_at <= since:
            return Reason.of(
                ERROR_FRAMES,
                f"only error frames arrive on {bus}: is {bus.bitrate} bit/s the motors' bitrate? "
                "Is the wiring right?",
            )
        if self.error_at > since:
            text = f"error frames on {bus}: do two motors have the same id? Is the wiring right?"
            return Reason.of(ERROR_FRAMES, text)
        # While motors answer, a refusal alone is no symptom: a burst may have filled the queue.
        unanswered = self.data_at <= since < self.refused_at
        if stuck or unanswered or max(self.unacknowledged_at, self.passive_at) > since:
            return Reason.of(
                NOT_ACKNOWLEDGED,
                f"no node acknowledges on {bus}: are the motors powered? Is {bus.bitrate} bit/s "
                "their bitrate? Is the bus terminated?",
            )
        return NO_REASON
