"""The guard of a bus as the control process sees it."""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from typing import Final

from humanoid_devices_can.bus import BusSettings, CanFrame
from humanoid_devices_can.guard.claim import claim
from humanoid_devices_can.guard.job import GOOD_BYE, GuardJob
from humanoid_devices_can.guard.page import GuardPage, Stage, new_page

COMMAND: Final = (sys.executable, "-m", "humanoid_devices_can.guard")
READY: Final = 5.0  # [s] a guard may take to start, on a machine that has much to do
AWAKE: Final = 1.0  # [s] it may be silent
PARTING: Final = 1.0  # [s] it may take to end
_ABSORBED: Final = (Stage.ACTS, Stage.DONE)  # it does not look meanwhile, or any more

logger = logging.getLogger(__name__)


class Guard:
    """Keeps the claim on a bus, and a process that disables its motors if this one can't.

    `feed`, `stage` and `problem` are for the loop: a few memory accesses each.
    """

    def __init__(
        self,
        bus: BusSettings,
        motors: str,
        frames: tuple[CanFrame, ...],
        voices: tuple[int, ...],
        patience: float,
    ) -> None:
        """`frames`, `voices`: see GuardJob; `patience`: [s] the loop may stand still."""
        self._bus, self._motors, self._patience = bus, motors, patience
        self._frames, self._voices = frames, voices
        self._claim: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._page: GuardPage | None = None
        self._failure = ""
        self._started = 0.0  # [s]

    def claim(self) -> None:
        """Have the bus to ourselves. Raises InterfaceError."""
        self._claim = self._claim or claim(self._bus)

    def start(self) -> None:
        """Have a process started, instead of one that has done its work. Doesn't wait for it.

        Never raises an OSError: `problem` says what is missing.
        """
        self.end()
        self._failure, self._started = "", time.monotonic()
        try:
            self._start()
        except OSError as error:  # no descriptor, no memory, no such program
            self._failure = f"it can't be started: {error}"

    def feed(self) -> None:
        """The loop has come round."""
        page = self._page  # another thread may end it
        if page is not None:
            page.feed()

    def stop_feeding(self) -> None:
        """The loop has ended in order."""
        page = self._page
        if page is not None:
            page.stop_feeding()

    @property
    def stage(self) -> Stage:
        """How far it is with the motors."""
        page = self._page
        return Stage.WATCHES if page is None else page.stage

    def problem(self) -> str:
        """Why nobody would disable the motors if this process failed; empty if somebody would."""
        failure = self._failure or self._silence()
        if not failure:
            return ""
        return (
            f"no guard on {self._bus} ({failure}): if this process fails, {self._motors} go on "
            "with their last set point: restart the control process"
        )

    def dismiss(self) -> None:
        """End the process, and give the bus back."""
        self.end()
        if self._claim is not None:
            self._claim.close()
            self._claim = None

    def _silence(self) -> str:
        page = self._page
        if page is None or page.stage in _ABSORBED:
            return ""
        now = time.monotonic()
        if page.seen:
            return "it is silent" if now - page.seen > AWAKE else ""
        return f"it did not start within {READY:g} s" if now - self._started > READY else ""

    def _start(self) -> None:
        descriptor = new_page()
        try:
            page = GuardPage(descriptor)
            self._start_with(descriptor)
            self._page = page
        finally:
            os.close(descriptor)

    def _start_with(self, page: int) -> None:
        job = GuardJob(self._bus, self._motors, self._frames, self._voices, self._patience, page)
        inherited = (page,) if self._claim is None else (page, self._claim.fileno())
        process = self._process = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=inherited,
            start_new_session=True,
        )
        assert process.stdin is not None  # a pipe
        process.stdin.write(job.encode())
        process.stdin.flush()

    def end(self) -> Stage:
        """End the process, after what it is doing: how far it came."""
        process, self._process = self._process, None
        page, self._page = self._page, None
        if process is not None and process.stdin is not None:
            with suppress(OSError):  # it has ended, or is about to
                process.stdin.write(GOOD_BYE)
                process.stdin.flush()
            with suppress(OSError):
                process.stdin.close()
            try:
                code = process.wait(PARTING)
            except subprocess.TimeoutExpired:
                process.kill()
                code = process.wait()
            if code:
                logger.error("the guard of %s ended with exit code %d", self._bus, code)
        return Stage.WATCHES if page is None else page.stage
