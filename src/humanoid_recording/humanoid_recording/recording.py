"""Puts messages into a bag from a thread of its own: no disk is waited for while listening."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Final

from humanoid_control_common.errors import RobotError
from humanoid_recording.summary import Topic
from humanoid_recording.writer import BagWriter

FLUSH_PERIOD: Final = 1.0  # [s]; what a loss of power costs at most
MOST_WAITING: Final = 64_000_000  # bytes that may wait for a slow disk


@dataclass(frozen=True, slots=True)
class Arrived:
    """A message, as it came; times in [ns] since the epoch."""

    topic: str
    data: bytes  # CDR
    arrival: int
    publication: int


class Recording:
    """To be used in a `with` statement, at the end of which everything is in `bag`.

    When the disk takes less than what comes, messages are dropped and counted. `error` is what
    ended it early.
    """

    def __init__(self, bag: BagWriter, most_waiting: int = MOST_WAITING) -> None:
        self.dropped = 0
        self.error: RobotError | None = None
        self._bag = bag
        self._most_waiting = most_waiting
        self._waiting: list[Topic | Arrived] = []
        self._size = 0  # bytes waiting
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bag")

    def __enter__(self) -> Recording:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def add_topic(self, topic: Topic) -> None:
        """Begin a topic."""
        with self._lock:
            self._waiting.append(topic)

    def add(self, message: Arrived) -> None:
        """Take a message of a topic that was begun, at once."""
        with self._lock:
            if self._size + len(message.data) > self._most_waiting:
                self.dropped += 1
                return
            self._waiting.append(message)
            self._size += len(message.data)

    def _run(self) -> None:
        try:
            ending = False
            while not ending:
                ending = self._end.wait(FLUSH_PERIOD)
                self._write()
                self._bag.flush()
        except RobotError as error:
            self.error = error

    def _write(self) -> None:
        with self._lock:
            arrived, self._waiting, self._size = self._waiting, [], 0
        for item in arrived:
            if isinstance(item, Topic):
                self._bag.add_topic(item)
            else:
                self._bag.add(item.topic, item.data, item.arrival, item.publication)
