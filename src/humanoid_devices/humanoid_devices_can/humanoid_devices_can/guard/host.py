"""The guard of a bus as the control process sees it."""

from __future__ import annotations

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
from humanoid_devices_can.guard.page import GuardPage, new_page

COMMAND: Final = (sys.executable, "-m", "humanoid_devices_can.guard")
READY: Final = 5.0  # [s] a guard may take to start, on a machine that has much to do
AWAKE: Final = 1.0  # [s] it may be silent
PARTING: Final = 1.0  # [s] it may take to end


class Guard:
    """Keeps the claim on a bus, and a process that disables its motors if this one can't.

    `feed`, `acted` and `problem` are for the loop: a few memory accesses each.
    """

    def __init__(
        self, bus: BusSettings, motors: str, frames: tuple[CanFrame, ...], patience: float
    ) -> None:
        """`frames` disable all `motors`; `patience`: [s] the loop may stand still."""
        self._bus, self._motors, self._frames, self._patience = bus, motors, frames, patience
        self._claim: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._page: GuardPage | None = None
        self._failure = ""
        self._started = 0.0  # [s]

    def claim(self) -> None:
        """Have the bus to ourselves. Raises InterfaceError."""
        self._claim = self._claim or claim(self._bus)

    def start(self) -> None:
        """Have a process started, instead of one that has done its work. Doesn't wait for it."""
        self.end()
        descriptor = new_page()
        try:
            self._failure = self._start(descriptor)
            self._page, self._started = GuardPage(descriptor), time.monotonic()
        finally:
            os.close(descriptor)

    def feed(self) -> None:
        """The loop has come round."""
        if self._page is not None:
            self._page.feed()

    def stop_feeding(self) -> None:
        """The loop has ended in order."""
        if self._page is not None:
            self._page.stop_feeding()

    @property
    def acted(self) -> bool:
        """Whether it has disabled the motors."""
        return self._page is not None and self._page.acted

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
        if page is None or page.acted:
            return ""
        now = time.monotonic()
        if page.seen:
            return "it is silent" if now - page.seen > AWAKE else ""
        return f"it did not start within {READY:g} s" if now - self._started > READY else ""

    def _start(self, page: int) -> str:
        job = GuardJob(self._bus, self._motors, self._frames, self._patience, page)
        inherited = (page,) if self._claim is None else (page, self._claim.fileno())
        try:
            process = subprocess.Popen(
                COMMAND,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                pass_fds=inherited,
                start_new_session=True,
            )
            assert process.stdin is not None  # a pipe
            process.stdin.write(job.encode())
            process.stdin.flush()
        except OSError as error:
            return f"it can't be started: {error}"
        self._process = process
        return ""

    def end(self) -> None:
        """End the process, after what it is doing."""
        process, self._process = self._process, None
        self._page = None
        if process is not None and process.stdin is not None:
            with suppress(OSError):  # it has ended, or is about to
                process.stdin.write(GOOD_BYE)
                process.stdin.flush()
            with suppress(OSError):
                process.stdin.close()
            try:
                process.wait(PARTING)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
