"""Write messages into a bag from a separate thread, so that no subscription waits for a disk."""

import threading
from dataclasses import dataclass
from typing import Final, Self

from humanoid_control_common.errors import RobotError
from humanoid_recording.crash_safe_file import BagError
from humanoid_recording.summary import Topic
from humanoid_recording.writer import BagWriter

FLUSH_PERIOD: Final = 1.0  # [s]; what a loss of power costs at most
MOST_WAITING: Final = 64_000_000  # bytes that may wait for a slow disk


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A received message; times in [ns] since the epoch."""

    topic: str
    data: bytes  # CDR
    arrival: int
    publication: int


class Recording:
    """A context in which messages go into `bag`; at its end all are there.

    When the disk is too slow, messages are dropped and counted. `error` ended it early.
    """

    def __init__(self, bag: BagWriter, most_waiting: int = MOST_WAITING) -> None:
        self.dropped = 0
        self.error: RobotError | None = None
        self._bag = bag
        self._most_waiting = most_waiting
        self._waiting: list[Topic | ReceivedMessage] = []
        self._size = 0  # bytes waiting
        self._lock = threading.Lock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bag")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def add_topic(self, topic: Topic) -> None:
        """Add a topic."""
        with self._lock:
            self._waiting.append(topic)

    def add(self, message: ReceivedMessage) -> None:
        """Queue a message of an added topic. Does not wait."""
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
        except Exception as error:  # all later messages would be lost without a word
            self.error = BagError(f"the recording failed: {error!r}")

    def _write(self) -> None:
        with self._lock:
            arrived, self._waiting, self._size = self._waiting, [], 0
        for item in arrived:
            if isinstance(item, Topic):
                self._bag.add_topic(item)
            else:
                self._bag.add(item.topic, item.data, item.arrival, item.publication)
