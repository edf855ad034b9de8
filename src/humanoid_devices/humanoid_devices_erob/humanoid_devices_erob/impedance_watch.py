"""What is known of the drives' loop gains, and whether they are those of the mode in force."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.joints import FloatArray
from humanoid_control_common.modes import SAFE_MODES, Mode
from humanoid_devices_erob.drive_registers import BUS_WRITTEN, FACTORY, DriveRegisters
from humanoid_devices_erob.gains import (
    IntArray,
    JointRegisters,
    Registers,
    gains_to_registers,
    registers_to_gains,
    write_order,
)
from humanoid_devices_erob.impedance_statement import ImpedanceStatement
from humanoid_devices_erob.sdo import SdoBatch, SdoObject, SdoResult
from humanoid_devices_erob.settings import Settings
from humanoid_devices_erob.wire import objects

MANAGER_SILENCE: Final = 0.3  # [s] without a statement: the impedance manager is gone (10 Hz usual)
WRITING_TIME: Final = 1.0  # [s] after a switch a manager that can write has done so (< 0.3 usual)
UNKNOWN: Final = -1  # of a register that has not been read since the drive was set up

_ROWS: Final = (
    objects.GATE_SWITCH,
    objects.POSITION_GAIN,
    objects.VELOCITY_GAIN,
    objects.VELOCITY_INTEGRAL,
    objects.FEED_FORWARD,
)


class ImpedanceWatch:
    """Registers as the drives read back last, the impedance manager's word, and the mode.

    Arrays are in the order of the block's joints. `stated` may be called from any thread, the rest
    by the one that does the I/O.
    """

    def __init__(self, settings: Settings, clock: Callable[[], float]) -> None:
        self._settings, self._clock = settings, clock
        joints = len(settings.joints)
        self._joint_of = {int(slave): i for i, slave in enumerate(settings.ring_position)}
        self._drives = [DriveRegisters(int(slave)) for slave in settings.ring_position]
        self._registers = np.full((len(_ROWS), joints), UNKNOWN, dtype=np.int64)
        self._gate, self._position_gain, self._velocity_gain = self._registers[:3]
        self._feed_forward = self._registers[4]
        self._statement: ImpedanceStatement | None = None
        self._begun = clock()  # [s] the mode and number in force
        self._heard = self._begun  # [s] the manager's latest word that counts, or that beginning
        self._judged: tuple[object, ...] = ()  # what `_confirmed` was concluded from
        self._latest: ImpedanceStatement | None = None
        self._confirmed = False
        self._stiffness: FloatArray = np.full(joints, np.nan)
        self._soft = gains_to_registers(
            0.0,
            settings.fallback_damping,
            torque_constant=settings.torque_constant,
            gear=settings.gear,
        )
        self.mode = Mode.ZERO_TORQUE
        self.number = 0
        self._changes = 0  # of the registers

    def stated(self, statement: ImpedanceStatement) -> None:
        """The impedance manager has said something."""
        self._statement = statement

    def mode_changed(self, mode: Mode, number: int) -> None:
        """Another mode or switch number is in force."""
        self.mode, self.number = mode, number
        self._begun = self._heard = self._clock()

    def gates_closed(self) -> None:
        """All drives have been set up: factory gains act, whatever the registers hold."""
        for drive in self._drives:
            drive.forget()
            drive.expect_gate(FACTORY)
        self._refresh()

    def slave_lost(self, slave: int) -> None:
        """Nothing is known of a slave that may have been without power."""
        joint = self._joint_of[slave]
        if (self._registers[:, joint] != UNKNOWN).any():
            self._drives[joint].forget()
            self._refresh()

    def take(self, results: Sequence[SdoResult], *, write: bool) -> None:
        """Take what became of the objects of a batch, whatever was asked.

        A write that was sent and isn't known to have ended leaves its register UNKNOWN.
        """
        for result in results:
            joint = self._joint_of.get(result.object.slave)
            if joint is not None:
                self._drives[joint].learn(result, write=write)
        self._refresh()

    @property
    def confirmed(self) -> bool:
        """Whether manager and drives agree on the gains of the mode and number in force."""
        statement = self._statement
        judged = (id(statement), self._changes, self.mode, self.number)
        if judged != self._judged:
            self._judged, self._latest = judged, statement  # kept, or its id could come again
            self._confirmed = self._judge(statement)
        return self._confirmed

    @property
    def stiffness(self) -> FloatArray:
        """[Nm/rad] (n,) that the registers give, nominal: the most that can act; NaN if unknown."""
        return self._stiffness

    @property
    def statement(self) -> ImpedanceStatement | None:
        """The impedance manager's latest word."""
        return self._statement

    def gate_open(self, joint: int) -> bool | None:
        """Whether the drive uses bus-written gains; None if that isn't known."""
        gate = int(self._gate[joint])
        return None if gate == UNKNOWN else gate == 1

    def registers_of(self, joint: int) -> JointRegisters | None:
        """Its gains as read back last; None until all have been."""
        return self._drives[joint].gains

    def has_feed_forward(self, joint: int) -> bool | None:
        """Whether the drive has the register 0x2382:03; None if that isn't known."""
        return self._drives[joint].has_feed_forward

    @property
    def free(self) -> NDArray[np.bool_]:
        """(n,) Joints whose target may move as fast as they do: its speed is known not to act.

        The velocity feed-forward has been read back as 0, or the drive has none, and the gate as
        open: behind a closed one the factory's value acts, and nobody has said that it is 0.
        """
        return np.asarray((self._gate == BUS_WRITTEN) & (self._feed_forward == 0))

    @property
    def stiff(self) -> NDArray[np.bool_]:
        """(n,) Joints whose drives are known to be stiff: by factory gains, or by written ones."""
        gains = (self._position_gain > 0) & (self._velocity_gain > 0)
        return np.asarray((self._gate == FACTORY) | (self._gate == BUS_WRITTEN) & gains)

    def softening(self, writable: Callable[[int], bool]) -> SdoBatch | None:
        """What makes stiff drives soft in a soft mode, if the impedance manager doesn't.

        A drive whose gains aren't known may be stiff. One that is not `writable` now, by its slave,
        is left for later: it is softened as soon as it is.
        """
        statement = self._statement
        if statement is not None and self._promises(statement):
            self._heard = max(self._heard, statement.arrived)
        if self.mode not in SAFE_MODES or self._clock() - self._heard <= MANAGER_SILENCE:
            return None
        doubtful = (self._position_gain != 0) | (self._velocity_gain == UNKNOWN)
        stiff = np.flatnonzero((self._gate != 0) & doubtful)
        soften = [joint for joint in stiff if writable(int(self._settings.ring_position[joint]))]
        writes = [write for joint in soften for write in self._softened(int(joint))]
        if not writes:
            return None
        self._heard = self._clock()  # if it fails, once more after the same time
        return SdoBatch(tuple(writes), write=True, mode=self.mode, number=self.number)

    def _promises(self, statement: ImpedanceStatement) -> bool:
        """Whether stiff drives may be left to the manager. Not all that speak can write.

        While one confirms and its gate is open, it reads all registers again every second.
        """
        in_time = statement.arrived - self._begun <= WRITING_TIME
        return statement.gate_open and (in_time or self._confirms(statement))

    def _softened(self, joint: int) -> tuple[SdoObject, ...]:
        drive = self._drives[joint]
        return drive.writes(write_order(drive.gains, self._soft.of(joint)))

    def _judge(self, statement: ImpedanceStatement | None) -> bool:
        if statement is None or not self._confirms(statement):
            return False
        stated = self._in_order(statement)
        return stated is not None and bool(
            (self._gate == BUS_WRITTEN).all()
            and np.array_equal(self._registers[1:4], stated)
            and not self._feed_forward.any()
        )

    def _confirms(self, statement: ImpedanceStatement) -> bool:
        """Whether it says that the drives have the gains of the mode and number in force."""
        in_force = (statement.mode, statement.number) == (self.mode, self.number)
        return in_force and statement.confirmed and statement.armed

    def _in_order(self, statement: ImpedanceStatement) -> IntArray | None:
        """The stated registers of the block's joints, shape (3, n); None if one is missing."""
        places = {name: i for i, name in enumerate(statement.joint_names)}
        if not all(name in places for name in self._settings.joints):
            return None
        order = [places[name] for name in self._settings.joints]
        said = statement.registers
        return np.array(
            [said.position_gain[order], said.velocity_gain[order], said.velocity_integral[order]]
        )

    def _refresh(self) -> None:
        self._changes += 1
        settings = self._settings
        for joint, drive in enumerate(self._drives):
            self._registers[:, joint] = [drive.value(key, UNKNOWN) for key in _ROWS]
        position_gain, velocity_gain, integral = self._registers[1:4]
        stiffness, _ = registers_to_gains(
            Registers(position_gain, velocity_gain, integral),
            torque_constant=settings.torque_constant,
            gear=settings.gear,
        )
        known = (self._gate == 1) & (position_gain >= 0) & (velocity_gain >= 0)
        found = np.where(known, stiffness, np.nan)
        if not np.array_equal(found, self._stiffness, equal_nan=True):
            self._stiffness = found
