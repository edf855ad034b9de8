"""Frames that wait to be sent: their order, their pace, and the gains sent before."""

import threading
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

import numpy as np

from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_devices_can.bus.bus import LONGEST_FRAME, CanFrame

BURST: Final = 5  # frames at once; Linux' CAN interfaces queue 10 (txqueuelen)
SHARE: Final = 0.6  # of the bus that the host may take


class Pace:
    """Allows BURST frames at once, then as many as the bus carries beside the motors' answers."""

    def __init__(self, bitrate: int) -> None:
        self._interval = LONGEST_FRAME / (SHARE * bitrate)  # [s]
        self._busy_until = 0.0  # [s] when all frames sent so far have passed, at that pace

    def wait(self, now: float) -> float:
        """Return how long [s] the next frame must wait at `now` [s]."""
        return max(self._busy_until - now - (BURST - 1) * self._interval, 0.0)

    def sent(self, now: float) -> None:
        """Note that a frame was sent at `now` [s]."""
        self._busy_until = max(self._busy_until, now) + self._interval


class Kind(IntEnum):
    """The kind of a frame in the queue."""

    COMMAND = 0
    GAINS = 1
    ORDER = 2


@dataclass(frozen=True, slots=True)
class Item:
    """One waiting frame."""

    kind: Kind
    motor: int
    frame: CanFrame
    since: float  # [s] when the first frame that it replaces was queued


@dataclass(frozen=True, slots=True)
class GainsItem(Item):
    """A waiting frame that carries gains, and their values in the motor frame."""

    stiffness: float  # [Nm/rad]
    damping: float  # [Nm s/rad]


class TransmitQueue:
    """Bounded: new commands and gains of a motor replace all that still wait for it.

    Orders go first. Any thread fills the queue, the sending thread empties it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.filled = threading.Event()  # set when a frame is added
        self._places: dict[int, list[Item]] = {}  # by motor, in sending order
        self._orders: deque[Item] = deque()
        self._sending: Item | None = None
        self._sending_from: list[Item] = []  # the batch that `_sending` was taken from

    def put(self, items: Iterable[Item]) -> None:
        """Queue commands and gains, those of one motor in this order."""
        with self._lock:
            newer: dict[int, list[Item]] = {}
            for item in items:
                newer.setdefault(item.motor, []).append(item)
            for motor, batch in newer.items():
                waiting = self._places.get(motor)
                if waiting:
                    batch[:] = [replace(item, since=waiting[0].since) for item in batch]
                self._places[motor] = batch
        self.filled.set()

    def order(self, motor: int, frames: Iterable[CanFrame], now: float) -> None:
        """Queue frames in this order, before all commands and gains."""
        with self._lock:
            self._orders.extend(Item(Kind.ORDER, motor, frame, now) for frame in frames)
        self.filled.set()

    def take(self) -> Item | None:
        """Return the next frame to send, None if none waits."""
        with self._lock:
            if self._orders:
                self._sending = self._orders.popleft()
            elif self._places:
                motor, waiting = next(iter(self._places.items()))
                self._sending, self._sending_from = waiting.pop(0), waiting
                if not waiting:
                    del self._places[motor]
            return self._sending

    def sent(self) -> None:
        """Note that the frame taken last was sent."""
        with self._lock:
            self._sending = None

    def put_back(self) -> None:
        """Queue the frame taken last again, in front, unless a newer batch replaces it."""
        with self._lock:
            item, self._sending = self._sending, None
            if item is None:
                return
            if item.kind is Kind.ORDER:
                self._orders.appendleft(item)
                return
            waiting = self._places.pop(item.motor, [])
            same = not waiting or waiting is self._sending_from
            newer = not same and any(other.kind is item.kind for other in waiting)
            again = waiting if newer else [item, *waiting]
            first = [replace(other, since=item.since) for other in again]
            self._places = {item.motor: first, **self._places}

    def clear(self, motors: Iterable[int] | None = None) -> None:
        """Drop the frames of `motors`, by default of all. A frame being sent is not repeated."""
        with self._lock:
            if motors is None:
                self._orders.clear()
                self._places.clear()
                self._sending = None
                return
            gone = set(motors)
            if self._sending is not None and self._sending.motor in gone:
                self._sending = None  # else `put_back` would have it sent after all
            self._orders = deque(item for item in self._orders if item.motor not in gone)
            self._places = {k: v for k, v in self._places.items() if k not in gone}

    def waiting_since(self) -> float | None:
        """Return since when [s] the oldest command or gains wait; None if none wait."""
        with self._lock:
            waiting = [items[0].since for items in self._places.values()]
            sending = self._sending
            if sending is not None and sending.kind is not Kind.ORDER:
                waiting.append(sending.since)
        return min(waiting, default=None)

    def orders_waiting(self) -> bool:
        """Return whether an order has not been sent yet."""
        with self._lock:
            sending = self._sending is not None and self._sending.kind is Kind.ORDER
            return sending or bool(self._orders)


class SentGains:
    """Gains are sent when they differ from those sent last, and again every `refresh` [s].

    They count as sent only once they are transmitted, and no longer after `forget`.
    """

    def __init__(self, motors: int, refresh: float) -> None:
        self._refresh = refresh
        self._sent: list[tuple[CanFrame, float] | None] = [None] * motors
        self.stiffness = np.zeros(motors)  # [Nm/rad] in force, as far as known
        self.damping = np.zeros(motors)  # [Nm s/rad]

    def due(self, frames: Sequence[CanFrame], now: float) -> list[int]:
        """Return the motors that must be sent their frame at `now` [s]."""
        return [i for i, frame in enumerate(frames) if self._is_due(i, frame, now)]

    def sent(self, item: GainsItem, now: float) -> None:
        """Note that the gains of `item` were transmitted at `now` [s]."""
        motor = item.motor
        self._sent[motor] = item.frame, now
        self.stiffness[motor], self.damping[motor] = item.stiffness, item.damping

    def carried(self, command: JointCommand) -> None:
        """Note gains that the commands themselves carry."""
        self.stiffness[:], self.damping[:] = command.stiffness, command.damping

    def forget(self, motor: int) -> None:
        """Note that the motor may have lost its gains."""
        self._sent[motor] = None

    def forget_all(self) -> None:
        """Note that any motor may have lost its gains."""
        self._sent = [None] * len(self._sent)

    def reset(self, motor: int) -> None:
        """Note that the motor is without gains: it will be enabled anew."""
        self.forget(motor)
        self.stiffness[motor] = self.damping[motor] = 0.0

    def _is_due(self, motor: int, frame: CanFrame, now: float) -> bool:
        sent = self._sent[motor]
        return sent is None or sent[0] != frame or now - sent[1] >= self._refresh
