"""Requests to several motors at once, each repeated until it is obeyed or out of time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from humanoid_devices_can.family import Exchange
from humanoid_devices_can.motor_state import MotorState

REFUSED: Final = 0.03  # [s] until an order that the adapter may have refused is repeated


@dataclass(slots=True)
class _Talk:
    exchange: Exchange
    asked: float = -math.inf  # [s] when it was asked last
    answer: str | None = None  # "" is yes


class Conversation:
    """One exchange per motor. Knows no bus and no clock: frames and times are told. Times in [s].

    `failures` holds what went wrong, by motor.
    """

    def __init__(
        self, exchanges: Iterable[Exchange], now: float, *, timeout: float, retry: float
    ) -> None:
        self.failures: dict[int, str] = {}
        self._talks: Mapping[int, _Talk] = {e.motor: _Talk(e) for e in exchanges}
        self._deadline, self._retry = now + timeout, retry
        self._timeout = timeout

    def hear(self, identifier: int, payload: bytes) -> None:
        """Take a frame that came in."""
        for talk in self._open():
            talk.answer = talk.exchange.judge(identifier, payload)

    def due(self, now: float, states: Sequence[MotorState], refused: float) -> list[Exchange]:
        """Whom to ask at `now`, given what was heard of each motor.

        `refused`: when the adapter refused a frame last; it may have been one of ours.
        """
        due = []
        for talk in self._open():
            # Silence is what is wanted of some: they are asked again only if they speak.
            spoke = states[talk.exchange.motor].stamp > talk.asked
            again = now - talk.asked >= self._retry and (spoke or not talk.exchange.quiet)
            lost = refused > talk.asked and now - talk.asked >= REFUSED
            if talk.asked == -math.inf or again or lost:
                due.append(talk.exchange)
                talk.asked = now
        return due

    def over(self, now: float, drained: float, states: Sequence[MotorState]) -> bool:
        """Whether all were answered or out of time.

        `drained`: when the receiver was last up to date; silence is judged by that.
        """
        for talk in self._open():
            quiet, motor = talk.exchange.quiet, talk.exchange.motor
            heard = max(talk.asked, states[motor].stamp)
            if quiet and talk.asked > -math.inf and drained - heard >= quiet:
                talk.answer = ""
        if now >= self._deadline:
            for talk in self._open():
                talk.answer = f"no answer within {self._timeout:g} s"
        self.failures = {m: t.answer for m, t in self._talks.items() if t.answer}
        return not self._open()

    def _open(self) -> list[_Talk]:
        return [talk for talk in self._talks.values() if talk.answer is None]
