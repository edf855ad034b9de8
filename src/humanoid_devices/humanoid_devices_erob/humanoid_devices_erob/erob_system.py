"""The eRob drives of one EtherCAT ring as a hardware component."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Final

import numpy as np

from humanoid_control_common.errors import HardwareError
from humanoid_control_common.machine.linux import LINUX
from humanoid_control_common.machine.machine import Machine
from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import (
    COMMAND_INTERFACES,
    Capability,
    JointCommand,
    JointState,
)
from humanoid_control_common.rules.diagnosis import Diagnosis
from humanoid_control_common.rules.modes import Mode
from humanoid_control_common.rules.safety import SafetyReport
from humanoid_controller_manager.hardware_component import (
    CapabilityArray,
    HardwareComponent,
    HardwareInfo,
)
from humanoid_devices_erob.bring_up.bring_up import BringUp
from humanoid_devices_erob.bring_up.bringup_thread import BringUpThread
from humanoid_devices_erob.diagnostics import RingDiagnostics
from humanoid_devices_erob.drive.joint_frame import JointFrame
from humanoid_devices_erob.mailbox.sdo import SdoBatch
from humanoid_devices_erob.mailbox.sdo_batch import Results, refused
from humanoid_devices_erob.master.cyclic_exchange import CyclicExchange
from humanoid_devices_erob.master.master import EthercatMaster
from humanoid_devices_erob.master.ring import Ring
from humanoid_devices_erob.operation.drive_impedance import DriveImpedance, ImpedanceReport
from humanoid_devices_erob.operation.joint_states_gate import JointStatesGate
from humanoid_devices_erob.operation.operation import Operation
from humanoid_devices_erob.operation.ordered_exit import OrderedExit
from humanoid_devices_erob.operation.sdo_policy import not_admitted
from humanoid_devices_erob.settings import parse_settings

# The answer of an exchange may take this share of the period, within these bounds [s]: a late one
# is better than none, but a dead ring must not stop the loop.
TIMEOUT_SHARE: Final = 0.4
LEAST_TIMEOUT: Final = 0.002
MOST_TIMEOUT: Final = 0.008


class ErobSystem(HardwareComponent):
    """The joints of one <ros2_control> block, each an eRob drive in cyclic synchronous position.

    A thread brings the ring up and keeps it cycling until the loop's first `read`. Up to PREOP it
    works while other components are activated. `on_activate` permits the rest. From the first
    `read` on the loop's thread does all I/O: an exchange in `write`, mail in `idle_until`.
    """

    def __init__(
        self,
        machine: Machine = LINUX,
        *,
        open_master: Callable[[float], EthercatMaster] = EthercatMaster,
    ) -> None:
        """`open_master`: returns the closed master whose answers may take so long [s]."""
        self._machine, self._open_master = machine, open_master
        self._bring_up_thread: BringUpThread | None = None
        self._may_operate: threading.Event | None = None  # of an activation that has begun
        self._ring: Ring | None = None
        self._operation: Operation | None = None
        self._state: JointState | None = None  # filled by the latest `read`
        self._sample_age = 0.0

    def on_configure(self, info: HardwareInfo) -> None:
        """See HardwareComponent. Raises ConfigError."""
        self._settings = settings = parse_settings(info)
        timeout = min(max(TIMEOUT_SHARE * settings.period, LEAST_TIMEOUT), MOST_TIMEOUT)
        self._master = self._open_master(timeout)
        self._impedance = DriveImpedance(settings, self.clock)
        self._report = SafetyReport(settings.name)
        self._diagnostics = RingDiagnostics(settings, self._impedance)
        self._capabilities = np.full(
            (len(COMMAND_INTERFACES), len(settings.joints)), Capability.NEVER, dtype=np.int8
        )
        self._capabilities[COMMAND_INTERFACES.index("position")] = Capability.PER_TICK
        for interface in ("stiffness", "damping"):
            self._capabilities[COMMAND_INTERFACES.index(interface)] = Capability.PER_MODE

    def begin_activation(self) -> None:
        """See HardwareComponent: the ring stays in PREOP, where no drive has torque."""
        stop, self._may_operate = threading.Event(), threading.Event()
        bring_up = BringUp(self._settings, self._master, self._machine, stop, self._may_operate)
        self._bring_up_thread = BringUpThread(bring_up.run, stop, self._machine)
        self._bring_up_thread.begin()

    def on_activate(self, state: JointState) -> None:
        """See HardwareComponent: returns with all drives in operation, their targets following.

        Raises RingError that says what is wrong; the ring is left in INIT then.
        """
        if self._may_operate is None:
            self.begin_activation()
        assert self._bring_up_thread is not None and self._may_operate is not None
        self._may_operate.set()
        self._may_operate = None
        ring, _ = self._bring_up_thread.result()
        self._impedance.gates_closed()
        self._gate = JointStatesGate(self._settings.joints, self._settings.period)
        self._ring = ring
        JointFrame(self._settings).measure(ring.image, state)

    def read(self, state: JointState, now: float, period: float) -> None:
        """See HardwareComponent. The first call takes the ring over from the bring-up's thread."""
        operation = self._operation or self._take_over()
        operation.read(state)
        self._state = state
        self._sample_age = operation.sample_age

    def write(self, command: JointCommand, now: float, period: float) -> None:
        """See HardwareComponent."""
        if self._operation is None:
            raise HardwareError(f"{self._settings.name} is not active")
        self._operation.write(command, period)

    def on_deactivate(self) -> None:
        """See HardwareComponent. Raises HardwareError with the drives that may still be armed."""
        self._operation = self._ring = self._state = self._may_operate = None
        thread, self._bring_up_thread = self._bring_up_thread, None
        ring = None if thread is None else thread.stop()
        if ring is None:
            return
        period = 1.0 / self._settings.bringup_frequency
        ring.set_rate(period, self._settings.period)
        cycle = CyclicExchange(ring, period, threading.Event())
        ordered_exit = OrderedExit(self._master, ring, cycle, self._settings.joint_at)
        try:
            ordered_exit.run()
        finally:
            self._master.close()
        if ordered_exit.failures:
            raise HardwareError("; ".join(ordered_exit.failures))

    @property
    def exit_check(self) -> str:
        """See HardwareComponent."""
        return "operation disabled, 0x2383 read back as 0"

    def capabilities(self) -> CapabilityArray:
        """See HardwareComponent: position per tick, stiffness and damping per mode."""
        return self._capabilities

    def effort_limit(self, position: FloatArray) -> FloatArray:
        """See HardwareComponent: the URDF's limits."""
        return self._settings.effort_limit

    def safety(self) -> SafetyReport:
        """See HardwareComponent."""
        operation = self._operation
        return self._report if operation is None else operation.monitor.report

    def diagnose(self) -> list[Diagnosis]:
        """See HardwareComponent."""
        return self._diagnostics.diagnose(self._ring, self._operation)

    @property
    def teleports(self) -> int:
        """See HardwareComponent: recovered turns shift the measured position, not the joint."""
        return 0 if self._operation is None else self._operation.frame.shifts

    @property
    def sample_age(self) -> float:
        """See HardwareComponent."""
        return self._sample_age

    @property
    def counter_names(self) -> tuple[str, ...]:
        """See HardwareComponent: losses, then each drive's statusword in ring order."""
        words = (f"statusword of {name}" for name in self._settings.joint_at)
        return ("lost exchanges", "working counter", *words)

    def bus_counts(self) -> Sequence[int]:
        """See HardwareComponent."""
        ring = self._ring
        if ring is None:
            return (0,) * len(self.counter_names)
        return (ring.lost_in_all, ring.working_counter, *ring.image.statusword.tolist())

    def mode_changed(self, mode: Mode, switch_number: int) -> None:
        """See HardwareComponent."""
        self._impedance.mode_changed(mode, switch_number)

    def impedance_confirmed(self) -> bool:
        """See HardwareComponent: impedance manager and read-back agree on the mode in force."""
        return self._impedance.confirmed

    def realized_stiffness(self) -> FloatArray:
        """See HardwareComponent: nominal, by the registers that were read back."""
        return self._impedance.stiffness

    def reset_faults(self) -> None:
        """See HardwareComponent."""
        if self._operation is not None:
            self._operation.reset_faults()

    def idle_until(self, deadline: float) -> None:
        """See HardwareComponent: exchanges mail between two ticks once the loop has the ring."""
        if self._operation is not None:
            self._operation.idle_until(deadline)
        left = deadline - self.clock()
        if left > 0.0:
            self._machine.sleep(left)

    def tick_correction(self) -> float:
        """See HardwareComponent."""
        if self._operation is None or self._ring is None:
            return 0.0
        return self._ring.lock.take_correction()

    def watchdog_times(self) -> FloatArray:
        """See HardwareComponent: time without process data after which a drive leaves operation."""
        times = np.full(len(self._settings.joints), self._settings.watchdog_time)
        if self._ring is not None:
            times[~self._ring.watched[self._settings.ring_position]] = np.inf
        return times

    # Called by the ROS side, from any thread.

    def clock(self) -> float:
        """Return the monotonic time [s], as in `SdoBatch.valid_until`."""
        return self._machine.clock()

    def submit(self, batch: SdoBatch) -> Future[Results]:
        """Begin a batch of another process.

        It is refused as a whole while the control loop doesn't run the ring, and by the rules of
        `sdo_policy`. No permission to write outlasts the present joint states.
        """
        operation = self._operation
        if operation is None:
            return refused(batch, "the control loop does not drive the ring yet")
        last = self.clock() + self._gate.limit
        if batch.write and not batch.valid_until <= last:  # also replaces NaN
            batch = replace(batch, valid_until=last)
        return not_admitted(batch) or operation.submit(batch)

    def joint_states_published(self, published: float, measured: float) -> None:
        """See HardwareComponent: opens the gate for SDO writes while joint states are fresh."""
        state = self._state
        if state is not None:
            positions = state.position.tolist()
            self._gate.seen(self._settings.joints, positions, min(published, measured))

    def impedance_reported(self, report: ImpedanceReport) -> None:
        """Take a report of the impedance manager."""
        self._impedance.reported(report)

    def _take_over(self) -> Operation:
        if self._bring_up_thread is None or self._ring is None:
            raise HardwareError(f"{self._settings.name} is not active")
        self._bring_up_thread.stop()
        self._operation = Operation(
            self._settings, self._master, self._ring, self._impedance, self._gate
        )
        return self._operation
