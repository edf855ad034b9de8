"""Requests to several motors at once, each repeated until it is obeyed or timed out."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from humanoid_control_common.rules.reasons import Reason, ReasonCode
from humanoid_devices_can.motor_protocol import Exchange, MotorState
from humanoid_devices_can.reason_codes import MOTOR_NO_ANSWER, MOTOR_REFUSED

REFUSED: Final = 0.03  # [s] until a request that the adapter may have refused is repeated


@dataclass(slots=True)
class _Request:
    exchange: Exchange
    sent: float = -math.inf  # [s] of the latest attempt
    obeyed_from: float = math.inf  # [s] since when silence may be obedience
    sends_since: float = math.inf  # [s] when it was answered first after that
    answer: str | None = None  # empty: obeyed
    code: ReasonCode = MOTOR_REFUSED  # of an answer that is a failure


class AcknowledgedRequests:
    """One exchange per motor, without bus or clock: the caller passes frames and times [s].

    `failures` holds the failures by motor; `judges_silence`: silence confirms some requests.
    """

    def __init__(
        self, exchanges: Iterable[Exchange], now: float, *, timeout: float, retry: float
    ) -> None:
        self.failures: dict[int, Reason] = {}
        self._requests: Mapping[int, _Request] = {e.motor: _Request(e) for e in exchanges}
        self._deadline, self._retry = now + timeout, retry
        self._timeout = timeout
        self.judges_silence = any(it.exchange.quiet for it in self._requests.values())

    def take(self, identifier: int, payload: bytes, now: float) -> None:
        """Judge a frame received at `now`."""
        for request in self._open():
            answer = request.exchange.judge(identifier, payload)
            if answer == "":
                request.sends_since = min(request.sends_since, now)
                if now - request.sends_since < request.exchange.again:
                    continue
            request.answer = answer

    def due(self, now: float, states: Sequence[MotorState], refused: float) -> list[Exchange]:
        """Return the exchanges whose request must be sent at `now`, given the motors' states.

        `refused`: when the adapter last refused a frame, possibly one of these requests.
        """
        due = []
        for request in self._open():
            elapsed = now - request.sent
            lost = refused > request.sent and elapsed >= REFUSED
            if elapsed >= self._retry or lost or self._may_end(request, now, states):
                due.append(request.exchange)
                request.obeyed_from = min(request.obeyed_from, now)
                request.sent, request.sends_since = now, math.inf
        return due

    def over(self, now: float, certain: float, states: Sequence[MotorState]) -> bool:
        """Return whether every request is answered or timed out.

        `certain`: what had arrived by then [s] has been taken; silence is judged by that.
        """
        for request in self._open():
            if _is_silent(request, certain, states):
                request.answer = ""
        if now >= self._deadline:
            for request in self._open():
                disobeys = request.exchange.quiet and not _is_silent(request, now, states)
                what = "it still sends" if disobeys else "no answer"
                request.answer = f"{what} within {self._timeout:g} s"
                request.code = MOTOR_REFUSED if disobeys else MOTOR_NO_ANSWER
        self.failures = {
            m: Reason.of(r.code, r.answer) for m, r in self._requests.items() if r.answer
        }
        return not self._open()

    def _may_end(self, request: _Request, now: float, states: Sequence[MotorState]) -> bool:
        """Return whether a silence is complete, if the adapter confirms a frame after it."""
        ends = _begin(request, states) + request.exchange.quiet
        return request.exchange.quiet > 0.0 and request.sent < ends <= now

    def _open(self) -> list[_Request]:
        return [request for request in self._requests.values() if request.answer is None]


def _begin(request: _Request, states: Sequence[MotorState]) -> float:
    """Return since when [s] a motor is silent that has been sent its request."""
    return max(request.obeyed_from, states[request.exchange.motor].stamp)


def _is_silent(request: _Request, now: float, states: Sequence[MotorState]) -> bool:
    quiet = request.exchange.quiet
    return quiet > 0.0 and now - _begin(request, states) >= quiet
