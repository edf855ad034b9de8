"""Keeps the newest values of an iterator for a slow reader."""

import threading
from collections import deque
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class NewestValues(Generic[T]):
    """Reads `source` in a thread of its own; the newest `keep` values wait for the reader.

    An error of the source is raised after the values that came before it.
    """

    def __init__(self, source: Iterator[T], keep: int) -> None:
        self._values: deque[T] = deque(maxlen=keep)
        self._changed = threading.Condition()
        self._ended = False
        self._error: BaseException | None = None
        threading.Thread(target=self._read, args=(source,), daemon=True).start()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        with self._changed:
            self._changed.wait_for(lambda: self._values or self._ended)
            if self._values:
                return self._values.popleft()
        if self._error is not None:
            raise self._error
        raise StopIteration

    def _read(self, source: Iterator[T]) -> None:
        try:
            for value in source:
                with self._changed:
                    self._values.append(value)
                    self._changed.notify()
        except Exception as error:
            self._error = error
        with self._changed:
            self._ended = True
            self._changed.notify_all()
