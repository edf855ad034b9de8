"""The control process's side of the guard: start it, feed it, notice its end."""

from dataclasses import replace
from typing import Final

import numpy as np

from humanoid_control_common.robot.mit_interface import JointCommand
from humanoid_control_common.rules.reason_codes import NO_GUARD
from humanoid_control_common.rules.reasons import NO_REASON, Reason
from humanoid_devices_can.bus.bus import CanFrame
from humanoid_devices_can.guard.channel import GuardedMotor, GuardJob, GuardMemory, Stage
from humanoid_devices_can.guard.claim import Claim
from humanoid_devices_can.guard.guard_process import RunningGuard, parting
from humanoid_devices_can.host import CanHost
from humanoid_devices_can.motor_protocol import MotorFamily
from humanoid_devices_can.settings import CanSettings

READY: Final = 5.0  # [s] a guard may take to start on a busy machine
AWAKE: Final = 1.0  # [s] a guard may be silent
_NOT_WATCHING: Final = (Stage.ACTS, Stage.DONE)
_OF_ONE_PROCESS: Final = "virtual"  # python-can's bus that no other process can open


class Guard:
    """Holds the claim on a bus, and runs the process that disables its motors if this one fails.

    The loop calls `feed`, `stage` and `problem`: a few memory accesses each.
    """

    def __init__(self, job: GuardJob, host: CanHost) -> None:
        self._job, self._host = job, host
        self._claim: Claim | None = None
        self._running: RunningGuard | None = None
        self._former: GuardMemory | None = None  # of the latest guard that has ended
        self._failure = ""
        self._started = 0.0  # [s]
        self._replaced = False  # whether the latest one was started in place of a lost one

    def claim(self) -> None:
        """Claim the bus. Raises InterfaceError."""
        self._claim = self._claim or self._host.claim(self._job.bus, self._host.machine)

    def demand_confirmations(self) -> None:
        """Have guards that are started from now on rely on confirmations of the adapter only."""
        self._job = replace(self._job, confirms=True)

    def start(self, *, fed: bool = False) -> None:
        """Start a new guard process in place of a former one, without waiting for it.

        The former one is ended then: at no time is there none. Never raises an OSError: `problem`
        returns the failure. `fed`: it replaces a lost one while the loop runs, and judges it from
        now on, even if the loop should stand still already.
        """
        former, self._running = self._running, None
        self._failure, self._started = "", self._host.machine.clock()
        self._replaced = fed
        try:
            self._running = self._host.start_guard(self._job, self._claim)
        except OSError as error:  # no descriptor, no memory, or no such program
            self._failure = f"it can't be started: {error}"
        if fed:
            self.feed()
        if former is not None:
            former.end()

    @property
    def lost(self) -> bool:
        """Return whether the guard must be replaced; at most one is started in READY.

        Not while it acts or has acted: then clearing the fault starts another one.
        """
        due = self._host.machine.clock() - self._started > READY
        return due and self.stage is Stage.WATCHES and bool(self.problem())

    def feed(self) -> None:
        """Count one tick of the loop whose commands reach the adapter."""
        running = self._running  # another thread may end it
        if running is not None:
            running.memory.feed()

    def stop_feeding(self) -> None:
        """Note that the loop has ended in order."""
        running = self._running
        if running is not None:
            running.memory.stop_feeding()

    @property
    def stage(self) -> Stage:
        """Return the guard's progress. One that acts for too long, as if killed, has failed."""
        running = self._running
        if running is None:
            return Stage.WATCHES
        memory, stage = running.memory, running.memory.stage
        if stage is Stage.ACTS and self._host.machine.clock() - memory.alive_at > parting(memory):
            return Stage.FAILED
        return stage

    def has_disabled(self, motor: int, *, silent: bool) -> bool:
        """Return whether a guard that is done has proved that a motor is disabled.

        `silent`: it sent nothing before the guard acted. Its silence proves nothing then.
        """
        running = self._running
        memory = self._former if running is None else running.memory
        return memory is not None and (memory.has_proved(motor) or not (silent or memory.waited))

    def problem(self) -> Reason:
        """Return why no guard would disable the motors if this process failed, if so."""
        failure = self._failure or self._silence()
        if not failure:
            return NO_REASON
        return Reason.of(
            NO_GUARD,
            f"no guard on {self._job.bus} ({failure}): if this process fails now, "
            f"{self._job.names} continue with their last set point",
        )

    def leave(self) -> None:
        """Leave the motors to a guard, which disables them as if this process had died.

        A guard that has ended, or stands still, is replaced.
        """
        if self._running is None or self._silence():
            self.start()
        running, self._running = self._running, None
        if running is not None:
            running.leave()

    def dismiss(self) -> None:
        """End the guard process and release the bus."""
        self.end()
        if self._claim is not None:
            self._claim.close()
            self._claim = None

    def _silence(self) -> str:
        running = self._running
        if running is None or self.stage in _NOT_WATCHING:
            return ""
        now, alive_at = self._host.machine.clock(), running.memory.alive_at
        age = now - self._started
        if not alive_at and age > READY:
            return f"it did not start within {READY:g} s"
        if self._replaced and (not alive_at or age < AWAKE):
            return "it had ended or stood still, another one starts"
        return "it is silent" if alive_at and now - alive_at > AWAKE else ""

    def end(self) -> Stage:
        """End the guard process after its present action and return its progress."""
        running = self._running
        if running is None:
            return Stage.WATCHES
        running.end()  # until then `stage` is its progress
        self._former, self._running = running.memory, None
        return running.memory.stage


def needs_guard(settings: CanSettings, family: MotorFamily) -> bool:
    """Return whether motors lack a watchdog, a guard is configured, and it could reach them."""
    helpless = not np.isfinite(family.watchdog).all()
    return is_shared(settings) and helpless and settings.guard_timeout > 0.0


def is_shared(settings: CanSettings) -> bool:
    """Return whether another process could open the bus."""
    return settings.bus.interface != _OF_ONE_PROCESS


def has_one_reader(settings: CanSettings) -> bool:
    """Return whether two processes that have opened the bus take each other's frames."""
    return settings.bus.interface == "slcan"


def guarded_motors(settings: CanSettings, family: MotorFamily) -> tuple[GuardedMotor, ...]:
    """Return the motors, with the proof by which a guard detects that they are disabled."""
    return tuple(
        GuardedMotor(str(motor), family.disabled_proof(i))
        for i, motor in enumerate(settings.motors)
    )


def disabling_frames(family: MotorFamily) -> tuple[CanFrame, ...]:
    """Return the frames that take the torque from all motors: disabling, zero gains, limp commands.

    The most effective come first: an adapter that another process reads may accept only 5 frames.
    """
    motors = len(family.watchdog)
    limp = JointCommand(motors)
    gains, commands = family.gains(limp), family.commands(limp)
    orders = [family.disabling(motor, clear_faults=False).request for motor in range(motors)]
    return (*(frame for order in orders for frame in order), *gains, *commands)
