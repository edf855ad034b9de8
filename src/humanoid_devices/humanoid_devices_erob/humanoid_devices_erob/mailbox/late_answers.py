"""Answers that may still arrive to requests of one slave that were given up.

An answer does not say which of two requests for the same object it belongs to: the counter of a
mailbox counts the messages of its sender (ETG.1000.4). But a slave answers in the order of the
requests.
"""

from typing import Final, TypeAlias

from humanoid_devices_erob.mailbox.sdo import Key, SdoObject
from humanoid_devices_erob.protocol import coe

# [s] after which no answer is expected: mailboxes are commonly allowed 2 s (ESI files). It may have
# arrived unnoticed, though.
LONGEST: Final = 3.0
QUIET: Final = 0.01  # [s] of polls that find the mailbox empty

_Request: TypeAlias = tuple[bool, Key]  # whether it writes, and the object


class LateAnswers:
    """The answers that are due to requests which were given up."""

    def __init__(self) -> None:
        self.count = 0  # late answers received
        self._due: dict[_Request, float] = {}  # when [s] each request was given up

    def clear(self) -> None:
        """Expect no answer: the slave has reset its mailbox."""
        self._due.clear()

    def given_up(self, target: SdoObject, now: float) -> None:
        """Note that the sent request for `target` (a write if it has data) was given up."""
        self._due[bool(target.data), target.key] = now

    def hold(self, target: SdoObject, now: float, quiet: float = 0.0) -> bool:
        """Return whether a request must wait: an old value would be taken for its answer.

        `quiet`: for how long [s] polls have found the mailbox empty. Writes never wait: their
        effect is read back afterwards.
        """
        request = False, target.key
        if target.data or request not in self._due:
            return False
        if now - self._due[request] < LONGEST or quiet < QUIET:
            return True
        del self._due[request]
        return False

    def answered(self, response: coe.Response) -> None:
        """Note the answer to the present request: all earlier requests are answered too.

        That does not hold if the answer may belong to one that was given up.
        """
        if not any(request in self._due for request in _requests(response)):
            self._due.clear()

    def passed_over(self, response: coe.Response) -> None:
        """Note a response that does not answer the present request."""
        for request in _requests(response):
            if request in self._due:
                self.count += 1
                if not request[0]:  # a write may have been given up more than once
                    del self._due[request]
                return


def _requests(response: coe.Response) -> tuple[_Request, ...]:
    """Return the requests that a response may answer; none for a segment, which continues one."""
    if isinstance(response, coe.DownloadResponse):
        return ((True, (response.index, response.subindex)),)
    if isinstance(response, (coe.ExpeditedUpload, coe.NormalUpload)):
        return ((False, (response.index, response.subindex)),)
    if isinstance(response, coe.Abort):
        key = response.index, response.subindex
        return ((False, key), (True, key))
    return ()
