"""What waits to be sent: the newest commands of each motor, and orders in their order."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import IntEnum

from humanoid_devices_can.bus import CanFrame


class Kind(IntEnum):
    """What a frame in the outbox is."""

    COMMAND = 0
    GAINS = 1
    ORDER = 2


@dataclass(frozen=True, slots=True)
class Item:
    """One frame that waits."""

    kind: Kind
    motor: int
    frame: CanFrame
    since: float  # [s] when the first frame in its place began to wait


class Outbox:
    """Bounded: newer commands and gains for a motor take the place of all that still wait for it.

    Orders go first. Filled by any thread, emptied by the one that sends.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.filled = threading.Event()  # rings when there is something to send
        self._places: dict[int, list[Item]] = {}  # by motor, in the order they are to be sent
        self._orders: deque[Item] = deque()
        self._sending: Item | None = None

    def put(self, items: Iterable[Item]) -> None:
        """Have commands and gains sent, those for one motor in this order."""
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
        """Have frames sent in this order, before all commands and gains."""
        with self._lock:
            self._orders.extend(Item(Kind.ORDER, motor, frame, now) for frame in frames)
        self.filled.set()

    def take(self) -> Item | None:
        """The next frame to send; None if none waits."""
        with self._lock:
            if self._orders:
                self._sending = self._orders.popleft()
            elif self._places:
                motor, waiting = next(iter(self._places.items()))
                self._sending = waiting.pop(0)
                if not waiting:
                    del self._places[motor]
            return self._sending

    def sent(self) -> None:
        """The frame taken last was sent."""
        with self._lock:
            self._sending = None

    def put_back(self) -> None:
        """The frame taken last was not sent: it goes first again, or makes way for newer ones."""
        with self._lock:
            item, self._sending = self._sending, None
            if item is None:
                return
            if item.kind is Kind.ORDER:
                self._orders.appendleft(item)
                return
            waiting = self._places.pop(item.motor, [])
            newer = any(other.kind is item.kind for other in waiting)
            again = waiting if newer else [item, *waiting]
            first = [replace(other, since=item.since) for other in again]
            self._places = {item.motor: first, **self._places}

    def clear(self, motors: Iterable[int] | None = None) -> None:
        """Forget what waits for `motors`, by default for all. What is being sent isn't repeated."""
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
        """Since when [s] the oldest command or gains have waited; None if none wait."""
        with self._lock:
            waiting = [items[0].since for items in self._places.values()]
            sending = self._sending
            if sending is not None and sending.kind is not Kind.ORDER:
                waiting.append(sending.since)
        return min(waiting, default=None)

    def orders_waiting(self) -> bool:
        """Whether an order has not been sent yet."""
        with self._lock:
            sending = self._sending is not None and self._sending.kind is Kind.ORDER
            return sending or bool(self._orders)
