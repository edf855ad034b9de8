"""The control loop: read hardware, update the active mode controller, limit, write hardware.

One thread calls `tick`. Other threads leave requests and heartbeats, and read `snapshot`. Threads
exchange whole, immutable values; no lock is held across a tick.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from humanoid_control_common.errors import ConfigError, ControllerError
from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.robot.joints import JointSet
from humanoid_control_common.robot.mit_interface import JointCommand, JointState
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.reasons import NO_REASON, Reason, joined
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.loop.active_controller import ActiveController, update_timeout_at
from humanoid_controller_manager.loop.latest_value import LatestValue
from humanoid_controller_manager.loop.mode_controllers import ControllerSlot, Tick
from humanoid_controller_manager.loop.snapshot import Phase, Refusal, Snapshot
from humanoid_controller_manager.safety.gravity_compensation import GravityCompensation
from humanoid_controller_manager.safety.ineffective_commands import IneffectiveCommands
from humanoid_controller_manager.safety.limit_stage import LimitStage
from humanoid_controller_manager.safety.loop_monitor import LoopMonitor
from humanoid_controller_manager.safety.measurement_check import MeasurementCheck


@dataclass(frozen=True, slots=True)
class SwitchRequest:
    """A request to put `controller` in charge.

    The loop drops it if another switch number than `expected_number` is in force. None marks the
    way down to a safe mode: never dropped, served before other requests, and followed by the next
    safe controller if this one refuses. Tickets grow from request to request.
    """

    controller: str
    expected_number: int | None
    ticket: int


class ControlLoop:
    """Owns the arrays, the hardware and the controller in charge.

    Args:
        hardware: configured components; `start` activates them.
        slots: the mode controllers by name.
        safe_chain: names of the fallbacks, in order.
        update_rate: [Hz]. An update that takes longer than `update_timeout_at` it is late.
        machine: its clocks, for heartbeats, measurements and the stamps of messages.
    """

    def __init__(
        self,
        hardware: HardwareGroup,
        limits: LimitStage,
        slots: Mapping[str, ControllerSlot],
        *,
        safe_chain: Sequence[str],
        update_rate: float,
        machine: Machine = LINUX,
    ) -> None:
        count = len(hardware.joints)
        self.hardware = hardware
        self.limits = limits
        self.gravity: GravityCompensation | None = None  # set before `start`; None: nothing is held
        self._machine = machine
        self._read_at = 0.0  # [s], monotonic: begin of the latest `read`
        self._read_at_system = 0  # [ns] of the system's clock: the same moment
        # Called in the loop's thread when mode, phase or safety changed; must not block.
        self.on_change: Callable[[], None] | None = None
        self._active = ActiveController(
            hardware, slots, safe_chain=safe_chain, update_timeout=update_timeout_at(update_rate)
        )
        self._monitor = LoopMonitor(hardware, limits, machine.clock)
        self.ineffective_commands = IneffectiveCommands(hardware.capabilities, hardware.mode_gains)
        self._longest_step = 2.0 / update_rate  # [s]: after a hold-up targets do not jump
        self._state = JointState(count)
        self._effort_limit = np.full(count, np.inf)  # [Nm], of the hardware
        self._stiffness = np.full(count, np.nan)  # [Nm/rad], see HardwareComponent
        self._measured = self._state.read_only()  # a view for controllers
        self._command = JointCommand(count)  # in force: limited, without compensation of gravity
        self._written = self._command
        self._ticks = 0
        self._refusal: Refusal | None = None
        self._ticket = 0  # of the latest request that was looked at
        self._requests: LatestValue[SwitchRequest] = LatestValue()
        self._ways_down: LatestValue[SwitchRequest] = LatestValue()
        self._fault_resets: LatestValue[bool] = LatestValue()
        self._fall_requests: LatestValue[Reason] = LatestValue()
        self._abandoned = False
        self._snapshot: Snapshot | None = None

    # Called by any thread.

    @property
    def joints(self) -> JointSet:
        """The robot's joints."""
        return self.hardware.joints

    @property
    def snapshot(self) -> Snapshot:
        """The latest tick. Raises ControllerError before `start`."""
        if self._snapshot is None:
            raise ControllerError("the control loop has not been started")
        return self._snapshot

    def request(self, request: SwitchRequest) -> None:
        """Leave a request for the next tick. The newest one counts."""
        box = self._ways_down if request.expected_number is None else self._requests
        box.put(request)

    def request_fault_reset(self) -> None:
        """Make the hardware reset its faults in the next tick."""
        self._fault_resets.put(True)

    def request_fall(self, reason: Reason) -> None:
        """Make the next tick fall to the first safe controller for `reason`."""
        self._fall_requests.put(reason)

    def heartbeat(self) -> None:
        """Take a sign of life of the ROS side. Its absence counts from the first call on."""
        self._monitor.heartbeat()

    @property
    def measurement_check(self) -> MeasurementCheck | None:
        """The check of the measurements, if one is set."""
        return self._monitor.check

    def set_measurement_check(self, check: MeasurementCheck) -> None:
        """Set the check of the measurements; before `start`. Without it all are accepted."""
        self._monitor.check = check

    def allow_soft_modes_only(self) -> None:
        """Refuse all stiff modes, as for a calibration; before `start`."""
        self._active.soft_only = True

    def refusal_of(self, controller: str) -> Reason:
        """Return why `controller` cannot be activated on this hardware, if so."""
        return self._active.refusal_of(controller)

    def exchange_slots(self, slots: Mapping[str, ControllerSlot]) -> None:
        """Replace the controllers from the next tick on. Raises ConfigError and changes nothing.

        Controllers that are pending or fallbacks must stay among them: see Registry.
        """
        self._active.exchange_slots(slots)

    def abandon(self) -> None:
        """Deactivate the hardware while a tick hangs; this tick does not write from then on.

        Raises ExceptionGroup of the components' errors.
        """
        self._abandoned = True
        self.hardware.deactivate()

    # Called by the loop's thread.

    def start(self, initial: str, now: float) -> None:
        """Activate the hardware, put controller `initial` in charge and make the first snapshot.

        Raises ConfigError, HardwareError or ControllerError; the hardware is inactive then.
        """
        refusal = self._active.refusal_as_first(initial)
        if refusal:
            raise ConfigError(f"initial_controller: {refusal}")
        self.hardware.activate(self._state)
        self._record_read_time()
        tick = Tick(self._measured, now, 0.0, lambda: now)
        failure = self._active.switch(initial, tick, self._command).text or self.hardware.failure()
        if failure:
            self.hardware.deactivate()
            raise ControllerError(failure)
        self._mode_begins()
        self._snapshot = self._take_snapshot(now)

    def tick(self, now: float, period: float, clock: Callable[[], float]) -> None:
        """One cycle at `now`, `period` after the last one [s].

        `clock` reads the loop's time [s]: it shows how long a controller takes.
        """
        state, command, active = self._state, self._command, self._active
        self._record_read_time()
        self.hardware.read(state, now, period)
        before = active.switch_number, active.phase, self._ticket, active.fall
        tick = Tick(self._measured, now, period, clock)
        must_leave = self._reason_to_leave(tick)
        if must_leave:
            active.fall_back(must_leave, tick, command)
        else:
            active.update(tick, command)
        if self.hardware.effort_limit(state, self._effort_limit):
            self.limits.set_effort_limit(self._effort_limit)
        if self.hardware.realized_stiffness(self._stiffness):
            self.limits.set_realized_stiffness(self._stiffness)
        if before[:2] != (active.switch_number, active.phase):
            self._mode_begins()
        self._written = self._limited(command, min(period, self._longest_step))
        if self._abandoned:
            return
        self.hardware.write(self._written, now, period)
        changed = self.hardware.refresh_reports()
        self._ticks += 1
        remark = self.snapshot.remark
        self._snapshot = self._take_snapshot(now)
        changed = changed or self._snapshot.remark != remark
        if self.on_change and (
            changed or before != (active.switch_number, active.phase, self._ticket, active.fall)
        ):
            self.on_change()

    def stop(self) -> None:
        """Deactivate controller and hardware. Raises ExceptionGroup of the components' errors."""
        self._active.leave()
        self.hardware.deactivate()

    def _mode_begins(self) -> None:
        active = self._active
        self._monitor.mode_begins()
        if self.gravity is not None:
            self.gravity.restart()
        self.ineffective_commands.mode_begins(
            active.mode, preparing=active.phase is Phase.PREPARING
        )

    def _limited(self, command: JointCommand, period: float) -> JointCommand:
        """Limit `command` in place; return it, or with compensation of gravity what to write."""
        state, limits, active = self._state, self.limits, self._active
        self.ineffective_commands.count(command)
        limits.apply(state, command, period, active.claimed_rows)
        active.held_back = limits.held_back
        if self.gravity is None:
            return command
        stiffness, effort = limits.acting_stiffness(command), limits.effort_limit
        return self.gravity.apply(
            state, command, active.compensated_joints, stiffness, effort, period
        )

    def _record_read_time(self) -> None:
        self._read_at, self._read_at_system = self._machine.clock(), self._machine.system_time_ns()

    def _reason_to_leave(self, tick: Tick) -> Reason:
        """Serve requests; return why the controller in charge must be left, if it must."""
        monitor, active = self._monitor, self._active
        monitor.check_measurement(self._state, self._command, tick.period)
        left = self._fall_requests.take() or NO_REASON  # see `request_fall`
        stalled = monitor.stalled(active.mode)
        reason = stalled or (NO_REASON if left else self._serve_requests(tick))
        if reason:
            return joined((reason, left))
        reason = left or monitor.implausible(active.mode)
        if reason and active.mode is Mode.DAMPING:
            active.note_fall(reason)
            self._drop_request()  # the number in force, on which it was decided, does not change
            return NO_REASON
        return reason

    def _drop_request(self) -> None:
        """Drop the waiting request, which counts as looked at. A way down stays."""
        request = self._requests.take()
        if request is not None:
            self._ticket = max(self._ticket, request.ticket)

    def _serve_requests(self, tick: Tick) -> Reason:
        """Carry out the waiting requests; return why the controller must be left, if it must."""
        if self._fault_resets.take():
            self.hardware.reset_faults()
        request, down = self._requests.take(), self._ways_down.take()
        if down is not None:
            self._ticket = max(down.ticket, request.ticket if request else 0)
            return self._active.switch(down.controller, tick, self._command)
        # A request older than the one served last has been overtaken by it.
        if request is not None and request.ticket > self._ticket:
            self._ticket = request.ticket
            if request.expected_number == self._active.switch_number:
                refusal = self._active.switch(request.controller, tick, self._command)
                if refusal:
                    self._refusal = Refusal(request.ticket, refusal)
        return NO_REASON

    def _take_snapshot(self, now: float) -> Snapshot:
        active = self._active
        return Snapshot(
            tick=self._ticks,
            now=now,
            measured=self._read_at,
            measured_at=self._read_at_system,
            state_array=self._state.array.copy(),
            command_array=self._written.array.copy(),
            controller=active.name,
            mode=active.mode,
            switch_number=active.switch_number,
            phase=active.phase,
            progress=active.progress,
            remark=active.remark,
            unconfirmed=self.hardware.unconfirmed(),
            reports=self.hardware.reports,
            fault=self.hardware.fault,
            fall=active.fall,
            ticket=self._ticket,
            refusal=self._refusal,
            members=active.members,
            compensation=None if self.gravity is None else self.gravity.added.copy(),
        )
