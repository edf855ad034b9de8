"""The impedance in force on every drive, by read-back and the impedance manager's reports."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.rules.modes import SAFE_MODES, Mode
from humanoid_devices_erob.drive.drive_registers import (
    BUS_WRITTEN,
    FACTORY,
    REGISTERS,
    UNKNOWN,
    DriveRegisters,
)
from humanoid_devices_erob.drive.gains import (
    IntArray,
    Registers,
    gains_to_registers,
    registers_to_gains,
    write_order,
)
from humanoid_devices_erob.mailbox.sdo import SdoBatch, SdoObject, SdoOutcome, SdoResult, SdoStatus
from humanoid_devices_erob.settings import Settings


@dataclass(frozen=True, slots=True)
class ImpedanceReport:
    """One humanoid_control_msgs/ImpedanceState. Arrays have one entry per name, shape (n,)."""

    arrived: float  # [s], monotonic
    gate_open: bool  # joint states are fresh: SDO writes are allowed
    armed: bool  # every drive uses the gains written over the bus
    confirmed: bool  # all registers read back as mode and number require
    mode: int
    number: int
    joint_names: tuple[str, ...]
    registers: Registers
    status_message: str = ""


MANAGER_SILENCE: Final = 0.3  # [s] without a report (usual: 10 Hz): the manager has ended
WRITING_TIME: Final = 1.0  # [s] a manager may take to write after a switch (usual: < 0.3)


class DriveImpedance:
    """Combines the latest read-back of all drives, the impedance manager's report and the mode.

    Arrays are in the order of the block's joints. Any thread may call `reported` and `confirmed`;
    the rest belongs to the I/O thread.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float]) -> None:
        self._settings, self._clock = settings, clock
        joints = len(settings.joints)
        self._joint_of = {int(slave): i for i, slave in enumerate(settings.ring_position)}
        self.drives = [DriveRegisters(int(slave)) for slave in settings.ring_position]
        self._registers = np.full((len(REGISTERS), joints), UNKNOWN, dtype=np.int64)
        self._gate, self._position_gain, self._velocity_gain = self._registers[:3]
        self._feed_forward = self._registers[4]
        self.report: ImpedanceReport | None = None
        self._begun = clock()  # [s] of the mode and number in force
        self._latest_report = self._begun  # [s], or `_begun`
        # Inputs of the latest judgement, its report (kept, so that its id stays unique) and its
        # result, replaced as a whole: several threads read it.
        self._judgement: tuple[tuple[object, ...], ImpedanceReport | None, bool] = (
            (), None, False
        )  # fmt: skip
        # Mode and number that were confirmed last, the registers then, and `_changes`.
        self._granted = (int(Mode.ZERO_TORQUE), -1), self._registers.copy(), 0
        self._stiffness: FloatArray = np.full(joints, np.nan)  # see `stiffness`
        self._stiffness_at = 0  # `_changes` that it includes
        self._soft = gains_to_registers(
            0.0,
            settings.fallback_damping,
            torque_constant=settings.torque_constant,
            gear=settings.gear,
        )
        self.mode = Mode.ZERO_TORQUE
        self.number = 0
        self._changes = 0  # of the registers

    def reported(self, report: ImpedanceReport) -> None:
        """Take a report of the impedance manager."""
        self.report = report

    def mode_changed(self, mode: Mode, number: int) -> None:
        """Note the mode and switch number in force."""
        self.mode, self.number = mode, number
        self._begun = self._latest_report = self._clock()

    def gates_closed(self) -> None:
        """Note that all gates are closed: factory gains act, whatever the registers hold."""
        for joint, drive in enumerate(self.drives):
            drive.forget()
            drive.set_gate_closed()
            self._refresh(joint)

    def slave_lost(self, slave: int) -> None:
        """Mark the registers of a slave unknown that may have been without power."""
        joint = self._joint_of[slave]
        if (self._registers[:, joint] != UNKNOWN).any():
            self.drives[joint].forget()
            self._refresh(joint)

    def transfer_ended(self, target: SdoObject, outcome: SdoOutcome) -> None:
        """Take over the result of a transfer that has ended, a write if `target` has data.

        A register that was written is UNKNOWN until it is read back.
        """
        joint = self._joint_of.get(target.slave)
        if joint is None or target.key not in REGISTERS:
            return
        if not target.data:
            found = replace(target, data=outcome.data)
            result = SdoResult(found, outcome.status, outcome.abort_code)
            self.drives[joint].learn(result, write=False)
        elif outcome.status is not SdoStatus.REFUSED:
            self.drives[joint].doubt(target)
        self._refresh(joint)

    @property
    def stiffness(self) -> FloatArray:
        """Return the nominal stiffness [Nm/rad] (n,) by the registers: the most that can act.

        It is NaN where it is unknown. The array is another one whenever a value has changed.
        """
        if self._stiffness_at != self._changes:
            self._stiffness_at = self._changes
            found = self._by_registers()
            if not np.array_equal(found, self._stiffness, equal_nan=True):
                self._stiffness = found
        return self._stiffness

    @property
    def confirmed(self) -> bool:
        """Return whether manager and drives agree on the gains of the mode and number in force."""
        report = self.report
        inputs = (id(report), self._changes, self.mode, self.number)
        judgement = self._judgement
        if inputs != judgement[0]:
            self._judgement = judgement = inputs, report, self._judge(report)
        return judgement[2]

    def unconfirmed(self) -> NDArray[np.bool_]:
        """Return the joints (n,) whose gains are not known to be those of mode and number in force.

        A drive that loses its gains, or whose gains are unknown, doesn't affect the others: the
        gains of a drive act where component and manager still report its confirmed registers.
        """
        in_force = int(self.mode), self.number
        granted_for, granted, changes = self._granted
        if self.confirmed:
            if (in_force, self._changes) != (granted_for, changes):
                self._granted = in_force, self._registers.copy(), self._changes
            return np.zeros(len(self.drives), dtype=bool)
        everywhere = np.ones(len(self.drives), dtype=bool)
        report = self.report
        if report is None or not granted_for == in_force == (report.mode, report.number):
            return everywhere
        reported = self._in_order(report)
        if reported is None:
            return everywhere
        same = (self._registers == granted).all(axis=0) & (reported == granted[1:4]).all(axis=0)
        return np.asarray(~same)

    @property
    def free(self) -> NDArray[np.bool_]:
        """Return the joints (n,) whose target may move at any speed: it is known not to act.

        The velocity feed-forward was read back as 0, or the drive has none, and the gate is open:
        behind a closed gate the factory's value acts, which is undocumented.
        """
        return np.asarray((self._gate == BUS_WRITTEN) & (self._feed_forward == 0))

    @property
    def stiff(self) -> NDArray[np.bool_]:
        """Return the joints (n,) known to be stiff, by factory gains or by written ones."""
        gains = (self._position_gain > 0) & (self._velocity_gain > 0)
        return np.asarray((self._gate == FACTORY) | (self._gate == BUS_WRITTEN) & gains)

    @property
    def too_stiff(self) -> NDArray[np.bool_]:
        """Return the joints (n,) that may be stiff by written gains although the mode is soft.

        A drive with unknown gains may be stiff.
        """
        if self.mode not in SAFE_MODES:
            return np.zeros(len(self.drives), dtype=bool)
        doubtful = (self._position_gain != 0) | (self._velocity_gain == UNKNOWN)
        return np.asarray((self._gate != FACTORY) & doubtful)

    @property
    def limp(self) -> NDArray[np.bool_]:
        """Return the joints (n,) known to have no damping although the mode is DAMPING."""
        undamped = (self._gate == BUS_WRITTEN) & (self._velocity_gain == 0)
        return np.asarray(undamped & (self.mode is Mode.DAMPING))

    def softening(self, writable: Callable[[int], bool]) -> SdoBatch | None:
        """Return the batch that damps stiff and limp drives, if the manager fails to.

        Stiff ones are softened in both soft modes, limp ones get damping in DAMPING. A slave that
        is not `writable` now is written as soon as it is.
        """
        report = self.report
        if report is not None and self._promises(report):
            self._latest_report = max(self._latest_report, report.arrived)
        if self.mode not in SAFE_MODES or self._clock() - self._latest_report <= MANAGER_SILENCE:
            return None
        wrong = np.flatnonzero(self.too_stiff | self.limp)
        damped = [joint for joint in wrong if writable(int(self._settings.ring_position[joint]))]
        writes = [write for joint in damped for write in self._softened(int(joint))]
        if not writes:
            return None
        self._latest_report = self._clock()  # after a failure, again after the same time
        return SdoBatch(tuple(writes), write=True, mode=self.mode, number=self.number)

    def _promises(self, report: ImpedanceReport) -> bool:
        """Return whether the manager can soften drives: not every manager that states can write.

        While it confirms with its gate open, it reads all registers again every second.
        """
        in_time = report.arrived - self._begun <= WRITING_TIME
        return report.gate_open and (in_time or self._confirms(report))

    def _softened(self, joint: int) -> tuple[SdoObject, ...]:
        drive = self.drives[joint]
        return drive.writes(write_order(drive.gains, self._soft.of(joint)))

    def _judge(self, report: ImpedanceReport | None) -> bool:
        if report is None or not self._confirms(report):
            return False
        reported = self._in_order(report)
        return reported is not None and bool(
            (self._gate == BUS_WRITTEN).all()
            and np.array_equal(self._registers[1:4], reported)
            and not self._feed_forward.any()
        )

    def _confirms(self, report: ImpedanceReport) -> bool:
        """Return whether it confirms the gains of the mode and number in force."""
        in_force = (report.mode, report.number) == (self.mode, self.number)
        return in_force and report.confirmed and report.armed

    def _in_order(self, report: ImpedanceReport) -> IntArray | None:
        """Return the reported registers of the block's joints (3, n); None if one is missing."""
        places = {name: i for i, name in enumerate(report.joint_names)}
        if not all(name in places for name in self._settings.joints):
            return None
        order = [places[name] for name in self._settings.joints]
        reported = report.registers
        return np.array(
            [
                reported.position_gain[order],
                reported.velocity_gain[order],
                reported.velocity_integral[order],
            ]
        )

    def _by_registers(self) -> FloatArray:
        position_gain, velocity_gain, integral = self._registers[1:4]
        stiffness, _ = registers_to_gains(
            Registers(position_gain, velocity_gain, integral),
            torque_constant=self._settings.torque_constant,
            gear=self._settings.gear,
        )
        known = (self._gate == BUS_WRITTEN) & (position_gain >= 0) & (velocity_gain >= 0)
        return np.where(known, stiffness, np.nan)

    def _refresh(self, joint: int) -> None:
        """Follow the registers of a drive; short, as all drives may answer in one frame."""
        drive = self.drives[joint]
        row = [drive.value(key) for key in REGISTERS]
        if row != self._registers[:, joint].tolist():
            self._registers[:, joint] = row
            self._changes += 1  # last: what was judged meanwhile is judged again
