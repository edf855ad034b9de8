"""Frames that wait to be sent: their order, the limit of their rate, and the gains sent before."""

import math
import threading
from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Final

import numpy as np

from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_devices_can.bus.bus import LONGEST_FRAME, CanFrame
from humanoid_devices_can.motor_protocol import MotorFamily, MotorState

BURST: Final = 5  # frames at once; Linux' CAN interfaces queue 10 (txqueuelen)
SHARE: Final = 0.6  # of the bus that the host may take


class RateLimit:
    """Permits BURST frames at once, then as many as the bus carries beside the motors' answers."""

    def __init__(self, bitrate: int) -> None:
        self._interval = LONGEST_FRAME / (SHARE * bitrate)  # [s]
        self._busy_until = 0.0  # [s] when all frames sent so far have passed, at that rate

    def wait(self, now: float) -> float:
        """Return how long [s] the next frame must wait at `now` [s]."""
        return max(self._busy_until - now - (BURST - 1) * self._interval, 0.0)

    def room(self, now: float) -> int:
        """Return how many frames may be sent at `now` [s]."""
        ahead = max(self._busy_until - now, 0.0) / self._interval
        return 0 if ahead > BURST - 1 else BURST - math.ceil(ahead)

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

    Args:
        filled: is set when a frame is added.
    """

    def __init__(self, filled: threading.Event) -> None:
        self._lock = threading.Lock()
        self.filled = filled
        self._places: dict[int, list[Item]] = {}  # by motor, in sending order
        self._orders: deque[Item] = deque()
        # The frames taken last and the batches they were taken from; None: cleared since.
        self._sending: list[tuple[Item, list[Item]] | None] = []

    def put(self, items: Iterable[Item], *, rouses: bool = True) -> None:
        """Queue commands and gains, those of one motor in this order.

        `rouses`: the sending thread sends them; otherwise the caller does.
        """
        with self._lock:
            newer: dict[int, list[Item]] = {}
            for item in items:
                newer.setdefault(item.motor, []).append(item)
            for motor, batch in newer.items():
                waiting = self._places.get(motor)
                if waiting:
                    batch[:] = [replace(item, since=waiting[0].since) for item in batch]
                self._places[motor] = batch
        if rouses:
            self.filled.set()

    def order(self, motor: int, frames: Iterable[CanFrame], now: float) -> None:
        """Queue frames in this order, before all commands and gains."""
        with self._lock:
            self._orders.extend(Item(Kind.ORDER, motor, frame, now) for frame in frames)
        self.filled.set()

    def take(self, most: int = 1) -> list[Item]:
        """Return the next frames to send, `most` at most; those taken before must be settled."""
        with self._lock:
            taken: list[tuple[Item, list[Item]]] = []
            while len(taken) < most and self._orders:
                taken.append((self._orders.popleft(), []))
            while len(taken) < most and self._places:
                motor, waiting = next(iter(self._places.items()))
                taken.append((waiting.pop(0), waiting))
                if not waiting:
                    del self._places[motor]
            self._sending = [*taken]
            return [item for item, _ in taken]

    def settle(self, sent: int) -> None:
        """Note that the first `sent` of the frames taken last were sent.

        The others are queued again, in front, unless a newer batch replaces them.
        """
        with self._lock:
            left, self._sending = self._sending[sent:], []
            orders: list[Item] = []
            batches: dict[int, tuple[list[Item], list[Item]]] = {}
            for place in left:
                if place is None:  # forgotten meanwhile
                    continue
                item, batch = place
                if item.kind is Kind.ORDER:
                    orders.append(item)
                else:
                    batches.setdefault(item.motor, ([], batch))[0].append(item)
            self._orders.extendleft(reversed(orders))
            again = {motor: self._again(motor, *both) for motor, both in batches.items()}
            self._places = again | {k: v for k, v in self._places.items() if k not in again}

    def _again(self, motor: int, unsent: list[Item], batch: list[Item]) -> list[Item]:
        """Return what waits for `motor` when `unsent`, which were taken from `batch`, come back."""
        first, waiting = unsent[0], self._places.get(motor, [])
        if not waiting or waiting is batch:
            found = [*unsent, *waiting]
        elif any(other.kind is first.kind for other in waiting):
            found = waiting
        else:
            found = [first, *waiting]
        return [replace(other, since=first.since) for other in found]

    def clear(self, motors: Iterable[int] | None = None) -> None:
        """Drop the frames of `motors`, by default of all. A frame being sent is not repeated."""
        with self._lock:
            if motors is None:
                self._orders.clear()
                self._places.clear()
                self._sending = []
                return
            gone = set(motors)
            # Else `settle` would have them sent after all.
            self._sending = [
                None if place is None or place[0].motor in gone else place
                for place in self._sending
            ]
            self._orders = deque(item for item in self._orders if item.motor not in gone)
            self._places = {k: v for k, v in self._places.items() if k not in gone}

    def waits(self) -> bool:
        """Return whether a frame waits to be taken."""
        return bool(self._orders or self._places)

    def waiting_since(self) -> float | None:
        """Return since when [s] the oldest command or gains wait; None if none wait."""
        with self._lock:
            waiting = [items[0].since for items in self._places.values()]
            waiting += [
                place[0].since
                for place in self._sending
                if place is not None and place[0].kind is not Kind.ORDER
            ]
        return min(waiting, default=None)

    def orders_waiting(self) -> bool:
        """Return whether an order has not been sent yet."""
        with self._lock:
            sending = any(it is not None and it[0].kind is Kind.ORDER for it in self._sending)
            return sending or bool(self._orders)


class SentGains:
    """Gains are sent in every tick for `insistence` [s] after a change, and every `refresh` [s].

    They count as sent only once they are transmitted, and no longer after `forget`.
    """

    def __init__(self, motors: int, refresh: float, insistence: float) -> None:
        self._refresh, self._insistence = refresh, insistence
        # Of each motor: the frame sent last, when [s], and since when it has been this frame.
        self._sent: list[tuple[CanFrame, float, float] | None] = [None] * motors
        self.stiffness = np.zeros(motors)  # [Nm/rad] in force, as far as known
        self.damping = np.zeros(motors)  # [Nm s/rad]

    def due(self, frames: Sequence[CanFrame], now: float) -> list[int]:
        """Return the motors that must be sent their frame at `now` [s]."""
        return [i for i, frame in enumerate(frames) if self._is_due(i, frame, now)]

    def sent(self, item: GainsItem, now: float) -> None:
        """Note that the gains of `item` were transmitted at `now` [s]."""
        motor = item.motor
        before, since = self._sent[motor], -math.inf
        if before is not None:
            since = before[2] if before[0] == item.frame else now
        self._sent[motor] = item.frame, now, since
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
        """Note that the motor has no gains: its command carries none, or it is enabled anew."""
        self.forget(motor)
        self.stiffness[motor] = self.damping[motor] = 0.0

    def _is_due(self, motor: int, frame: CanFrame, now: float) -> bool:
        sent = self._sent[motor]
        if sent is None or sent[0] != frame:
            return True
        return now - sent[2] < self._insistence or now - sent[1] >= self._refresh


def limp_items(
    family: MotorFamily,
    states: Sequence[MotorState],
    sent_gains: SentGains,
    motors: Collection[int],
    now: float,
) -> list[Item]:
    """Return the frames that make `motors` limp at `now` [s]: gains that are due, then commands.

    Their position is the measured one: a motor that has lost its zero gains must not move either.
    """
    raw = JointCommand(len(states))
    raw.position[:] = [s.position if math.isfinite(s.position) else 0.0 for s in states]
    commands, gains = family.commands(raw), family.gains(raw)
    if not gains:  # the commands carry them
        for i in motors:
            sent_gains.reset(i)
    due = sent_gains.due(gains, now)
    return [
        *(GainsItem(Kind.GAINS, i, gains[i], now, 0.0, 0.0) for i in due if i in motors),
        *(Item(Kind.COMMAND, i, commands[i], now) for i in motors),
    ]
