"""Answers that may still come to requests of one slave that were given up.

Nothing in an answer says which of two requests for the same object it belongs to: the counter of a
mailbox counts what its sender sends (ETG.1000.4). A slave answers in the order of the requests,
though.
"""

from __future__ import annotations

from typing import Final, TypeAlias

from humanoid_devices_erob.mailbox_port import SdoJob
from humanoid_devices_erob.wire import coe

# [s] after which no answer is expected any more: mailboxes are commonly allowed 2 s (ESI files). It
# may have come while nobody looked, though.
LONGEST: Final = 3.0
QUIET: Final = 0.01  # [s] of polls that find nothing

_Request: TypeAlias = tuple[bool, int, int]  # whether it writes, index, subindex


class LateAnswers:
    """Which answers are due, to requests that nobody waits for."""

    def __init__(self) -> None:
        self.count = 0  # that came
        self._due: dict[_Request, float] = {}  # when [s] the request was given up

    def clear(self) -> None:
        """The slave has forgotten its mailbox: no answer comes."""
        self._due.clear()

    def given_up(self, job: SdoJob, now: float) -> None:
        """A request of `job` was sent and is not waited for any longer."""
        self._due[bool(job.data), job.index, job.subindex] = now

    def hold(self, job: SdoJob, now: float, quiet: float = 0.0) -> bool:
        """Whether `job` must not be sent yet: an old value would be taken for its answer.

        `quiet`: for so long [s] the mailbox has been looked into, and was empty. Writes are sent:
        what they have done is read back behind them.
        """
        key = False, job.index, job.subindex
        if job.data or key not in self._due:
            return False
        if now - self._due[key] < LONGEST or quiet < QUIET:
            return True
        del self._due[key]
        return False

    def answered(self, response: coe.Response) -> None:
        """The request under way was answered: whatever was asked before it is answered, too.

        Unless the answer may be that to one which was given up.
        """
        if not any(key in self._due for key in _questions(response)):
            self._due.clear()

    def passed_over(self, response: coe.Response) -> None:
        """A response that answers nothing under way."""
        for key in _questions(response):
            if key in self._due:
                self.count += 1
                if not key[0]:  # a write may have been given up more than once
                    del self._due[key]
                return


def _questions(response: coe.Response) -> tuple[_Request, ...]:
    """The requests that it may answer; none for a segment, which follows its first answer."""
    if isinstance(response, coe.DownloadResponse):
        return ((True, response.index, response.subindex),)
    if isinstance(response, (coe.ExpeditedUpload, coe.NormalUpload)):
        return ((False, response.index, response.subindex),)
    if isinstance(response, coe.Abort):
        aim = response.index, response.subindex
        return ((False, *aim), (True, *aim))
    return ()
