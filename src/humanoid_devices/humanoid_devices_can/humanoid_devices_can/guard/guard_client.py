"""The control process's side of the guard: start it, feed it, notice its end."""

import logging
import os
import socket
import subprocess
import sys
import time
from contextlib import suppress
from typing import Final

import numpy as np

from humanoid_control_common.mit_interface import JointCommand
from humanoid_control_common.reasons import NO_REASON, Reason
from humanoid_devices_can.bus.bus import BusSettings, CanFrame, OpenBus, PythonCanBus
from humanoid_devices_can.errors import InterfaceError
from humanoid_devices_can.guard.channel import GOOD_BYE, GuardJob, GuardMemory, Stage, new_memory
from humanoid_devices_can.motor_protocol import MotorFamily
from humanoid_devices_can.reason_codes import NO_GUARD
from humanoid_devices_can.settings import CanSettings

PATIENCE: Final = 5.0  # [s] a guard may take to disable the motors of a dead control process
READY: Final = 5.0  # [s] a guard may take to start on a busy machine
AWAKE: Final = 1.0  # [s] a guard may be silent
PARTING: Final = 1.0  # [s] a guard may take to end
COMMAND: Final = (sys.executable, "-m", "humanoid_devices_can.guard")
_CLAIM_PERIOD: Final = 0.02  # [s] between two attempts to claim a bus
_NOT_WATCHING: Final = (Stage.ACTS, Stage.DONE)
_OF_ONE_PROCESS: Final = "virtual"  # python-can's bus that no other process can open

logger = logging.getLogger(__name__)


class Guard:
    """Holds the claim on a bus, and runs the process that disables its motors if this one fails.

    The loop calls `feed`, `stage` and `problem`: a few memory accesses each.
    """

    def __init__(
        self,
        bus: BusSettings,
        motors: str,
        frames: tuple[CanFrame, ...],
        feedback_identifiers: tuple[int, ...],
        patience: float,
    ) -> None:
        """`frames` and identifiers: see GuardJob; `patience`: [s] the loop may stand still."""
        self._bus, self._motors, self._patience = bus, motors, patience
        self._frames, self._identifiers = frames, feedback_identifiers
        self._claim: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._page: GuardMemory | None = None
        self._failure = ""
        self._started = 0.0  # [s]

    def claim(self) -> None:
        """Claim the bus. Raises InterfaceError."""
        self._claim = self._claim or claim(self._bus)

    def start(self) -> None:
        """Start a new guard process in place of a former one, without waiting for it.

        Never raises an OSError: `problem` returns the failure.
        """
        self.end()
        self._failure, self._started = "", time.monotonic()
        try:
            self._start()
        except OSError as error:  # no descriptor, no memory, or no such program
            self._failure = f"it can't be started: {error}"

    def feed(self) -> None:
        """Count one tick of the loop."""
        page = self._page  # another thread may end it
        if page is not None:
            page.feed()

    def stop_feeding(self) -> None:
        """Note that the loop has ended in order."""
        page = self._page
        if page is not None:
            page.stop_feeding()

    @property
    def stage(self) -> Stage:
        """Return the guard's progress."""
        page = self._page
        return Stage.WATCHES if page is None else page.stage

    def problem(self) -> Reason:
        """Return why no guard would disable the motors if this process failed, if so."""
        failure = self._failure or self._silence()
        if not failure:
            return NO_REASON
        return Reason.of(
            NO_GUARD,
            f"no guard on {self._bus} ({failure}): if this process fails, {self._motors} continue "
            "with their last set point: restart the control process",
        )

    def dismiss(self) -> None:
        """End the guard process and release the bus."""
        self.end()
        if self._claim is not None:
            self._claim.close()
            self._claim = None

    def _silence(self) -> str:
        page = self._page
        if page is None or page.stage in _NOT_WATCHING:
            return ""
        now = time.monotonic()
        if page.alive_at:
            return "it is silent" if now - page.alive_at > AWAKE else ""
        return f"it did not start within {READY:g} s" if now - self._started > READY else ""

    def _start(self) -> None:
        descriptor = new_memory()
        try:
            page = GuardMemory(descriptor)
            self._start_with(descriptor)
            self._page = page
        finally:
            os.close(descriptor)

    def _start_with(self, page: int) -> None:
        job = GuardJob(
            self._bus, self._motors, self._frames, self._identifiers, self._patience, page
        )
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
        """End the guard process after its present action and return its progress."""
        process, self._process = self._process, None
        page, self._page = self._page, None
        if process is not None and process.stdin is not None:
            with suppress(OSError):  # it has ended already
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


def needs_guard(settings: CanSettings, family: MotorFamily, open_bus: OpenBus) -> bool:
    """Return whether motors lack a watchdog, a guard is configured, and it could reach them."""
    reachable = open_bus is PythonCanBus and settings.bus.interface != _OF_ONE_PROCESS
    helpless = not np.isfinite(family.watchdog).all()
    return reachable and helpless and settings.guard_timeout > 0.0


def disabling_frames(family: MotorFamily) -> tuple[CanFrame, ...]:
    """Return the frames that take the torque from all motors: disabling, zero gains, limp commands.

    The most effective come first: an adapter that another process reads may accept only 5 frames.
    """
    motors = len(family.watchdog)
    limp = JointCommand(motors)
    gains, commands = family.gains(limp), family.commands(limp)
    orders = [family.disabling(motor, clear_faults=False).request for motor in range(motors)]
    return (*(frame for order in orders for frame in order), *gains, *commands)


def claim(bus: BusSettings, patience: float | None = None) -> socket.socket:
    """Claim the bus until all copies of the socket are closed, or their processes end.

    Two control processes would undo each other's commands. Raises InterfaceError if another one
    holds the bus for `patience` [s], by default for as long as its guard may need.
    """
    # A device has many paths, relative and linked ones; a network interface has none.
    channel = os.path.realpath(bus.channel) if os.sep in bus.channel else bus.channel
    address = f"\0humanoid_control.can.{bus.interface}.{channel}"
    taken = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    deadline = time.monotonic() + (PATIENCE if patience is None else patience)
    while True:
        try:
            taken.bind(address)
        except OSError as error:
            if time.monotonic() > deadline:
                taken.close()
                raise InterfaceError(
                    f"{bus}: another process drives its motors already: end it first (or does "
                    "another block of the robot description? A bus has one)"
                ) from error
            time.sleep(_CLAIM_PERIOD)
        else:
            return taken
