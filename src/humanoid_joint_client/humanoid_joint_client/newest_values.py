"""Store the newest values of an iterator for a slow reader."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class NewestValues(Generic[T]):
    """Reads `source` in a thread of its own; the newest `keep` values wait for the reader.

    An error of the source is raised after the values that came before it. `on_change` is called in
    that thread when a value is there, and at the end.

    Raises ValueError unless `keep` is 1 or more: a reader would wait for ever.
    """

    def __init__(
        self, source: Iterator[T], keep: int, on_change: Callable[[], None] = lambda: None
    ) -> None:
        if keep < 1:
            raise ValueError(f"keep is {keep}, expected 1 or more")
        self._on_change = on_change
        self._values: deque[T] = deque(maxlen=keep)
        self._changed = threading.Condition()
        self._ended = False
        self._error: BaseException | None = None
        threading.Thread(target=self._read, args=(source,), daemon=True).start()

    def __iter__(self) -> Iterator[T]:
        return self

    @property
    def is_ready(self) -> bool:
        """Return True if `next` returns without waiting."""
        with self._changed:
            return bool(self._values) or self._ended

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
                self._on_change()
        except Exception as error:
            self._error = error
        with self._changed:
            self._ended = True
            self._changed.notify_all()
        self._on_change()
