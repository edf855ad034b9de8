"""One eRob drive: its firmware behind the EtherCAT slave controller, and its shaft."""

from __future__ import annotations

import logging

from humanoid_devices_erob.protocol.cia402 import CSP, DriveState
from humanoid_twin.erob.cia402 import STATUSWORDS, is_fault_reset, next_state
from humanoid_twin.erob.control_loops import CascadedLoop, CspInterpolator, GainStore
from humanoid_twin.erob.faults import DriveError, FaultMemory
from humanoid_twin.erob.objects import build_dictionary
from humanoid_twin.erob.parameters import COUNTS_PER_RADIAN, TICK, DriveParameters, ObjectAccess
from humanoid_twin.ethercat.firmware import AlState
from humanoid_twin.mounting import MountedEncoder, Mounting
from humanoid_twin.physics.plant import Plant

_log = logging.getLogger(__name__)
_ENABLED = DriveState.OPERATION_ENABLED  # looked up once: in every step it would be slow
_TURN = 524288  # [counts] 19 bit at the output


class ErobDrive:
    """A `Firmware`: CiA 402, CSP only, cascaded loops at 1 kHz, gains over the bus.

    The drive gives torque in operation enabled and during a quick stop only.
    """

    def __init__(self, parameters: DriveParameters, shaft: DriveShaft) -> None:
        self._parameters = parameters
        self.shaft = shaft
        self._torque_per_current = parameters.torque_per_current  # [Nm/mA]
        self._position_limit = parameters.position_error_limit * COUNTS_PER_RADIAN
        self._velocity_limit = parameters.velocity_error_limit * COUNTS_PER_RADIAN
        self._loop = CascadedLoop(parameters)
        self._interpolator = CspInterpolator(parameters.longest_interpolation)
        self.faults = FaultMemory(parameters.history_length)
        self._battery_is_new = False  # since the error in force
        self._keeps_turns = parameters.keeps_turns
        self.gains = GainStore(
            parameters.factory, stores_behind_closed_gate=parameters.stores_gains_behind_closed_gate
        )
        self.dictionary = build_dictionary(self, self.gains, self.faults, parameters)
        self._start_up()

    def _start_up(self) -> None:
        self._al_state = AlState.INIT
        self._controlword = 0
        self._mode = self._parameters.first_mode
        self._keeps_mode = False
        self.interpolation_period, self.interpolation_index = 1, -3  # 1 ms
        self.digital_outputs = 0
        self._braking = 0  # [ticks] left of a quick stop
        self._releasing = 0.0  # [ticks] left until the holding brake opens
        self.position = self.shaft.position()  # [counts], of the last tick
        self.velocity = 0  # [counts/s]
        self._target = self.position
        self._enter(DriveState.SWITCH_ON_DISABLED)

    # Cyclic objects.

    @property
    def torque(self) -> int:
        """0x6077: torque at the output [0.1 % of the rated torque]."""
        return round(1000 * self.shaft.torque() / self._parameters.rated_torque)

    @property
    def target(self) -> int:
        """0x607A [counts]."""
        return self._target

    @target.setter
    def target(self, counts: int) -> None:
        self._target = counts
        if self._mode != CSP:
            return
        if self._parameters.interpolation is ObjectAccess.ABSENT:
            self._interpolator.aim(counts)
        else:
            seconds = self.interpolation_period * 10.0**self.interpolation_index
            self._interpolator.aim(counts, round(seconds / TICK))

    @property
    def mode(self) -> int:
        """0x6061; an unknown mode changes nothing."""
        return self._mode

    @mode.setter
    def mode(self, mode: int) -> None:
        if mode == CSP and not self._keeps_mode:
            self._mode = mode

    @property
    def controlword(self) -> int:
        """0x6040; each write makes at most one transition."""
        return self._controlword

    @controlword.setter
    def controlword(self, word: int) -> None:
        previous, self._controlword = self._controlword, word
        if self.state is DriveState.FAULT:
            if is_fault_reset(previous, word) and self._fault_is_over():
                self.faults.reset()
                self._enter(DriveState.SWITCH_ON_DISABLED)
            return
        state = next_state(self.state, word)
        if state is DriveState.OPERATION_ENABLED and self._al_state is not AlState.OP:
            return  # without process data there is no target to follow
        if state is not self.state:
            self._enter(state)

    def _fault_is_over(self) -> bool:
        """Return whether a reset may clear the fault.

        A communication error lasts until process data flow again (assumed).
        """
        if self.faults.code == DriveError.ENCODER_BATTERY:
            return self._battery_is_new or self._parameters.reset_clears_battery_error
        return self.faults.code != DriveError.COMMUNICATION or self._al_state is AlState.OP

    # Calls of the ring (Firmware).

    def al_state_changed(self, state: AlState) -> None:
        """See Firmware. Leaving OP disables the drive; a fault stays until it is reset."""
        self._al_state = state
        if state is not AlState.OP:
            enabled = self.state is DriveState.OPERATION_ENABLED
            if enabled and self._parameters.faults_when_leaving_op_enabled:
                self.communication_fault("OP was left while operation was enabled")
            self._controlword = 0
            if self.state is not DriveState.FAULT:
                self._enter(DriveState.SWITCH_ON_DISABLED)

    def communication_fault(self, reason: str) -> None:
        """See Firmware."""
        _log.info("EtherCAT communication error: %s", reason)
        self.raise_error(DriveError.COMMUNICATION)

    def outputs_lost(self) -> None:
        """See Firmware. To the drive it is a communication error (actuator documents)."""
        self.communication_fault("no outputs within the watchdog's time")

    def raise_error(self, code: int) -> None:
        """See Firmware. Further errors while one is in force are not recorded."""
        if self.state is not DriveState.FAULT:
            self.faults.record(code)
            self._battery_is_new = False
            self._enter(DriveState.FAULT)

    def weaken_battery(self) -> None:
        """See Firmware."""
        self._keeps_turns = False

    def change_battery(self) -> None:
        """See Firmware. The drive keeps turns from now on, if its parameters allow (assumed)."""
        self._battery_is_new = True
        self._keeps_turns = self._parameters.keeps_turns

    def keep_mode(self, mode: int) -> None:
        """See Firmware. Until the next power-up."""
        self._mode, self._keeps_mode = mode, True

    def power_cycle(self) -> None:
        """See Firmware. The stored history survives (assumed)."""
        self.faults.reset()
        self.gains.power_cycle()
        if not self._keeps_turns:
            self.shaft.forget_turns()
        self._loop.use(self.gains.active)
        self._start_up()

    def step(self, seconds: float) -> None:
        """See Firmware: one tick of the loops, with the present shaft."""
        if seconds != TICK:
            raise ValueError(f"drive stepped by {seconds} s, its loops run every {TICK} s")
        self.position, self.velocity = self.shaft.measure()
        demand = self._interpolator.tick()
        if self.state is _ENABLED:
            if self._releasing > 0.0:
                self._release_brake()
            self._follow(demand - self.position)
        elif self.state is DriveState.QUICK_STOP_ACTIVE:
            self._stop()
        else:
            self._interpolator.hold(self.position)

    def spring(self) -> tuple[float, float]:
        """Return the present stiffness [Nm/rad] and its share of the torque at the output [Nm]."""
        if self.state is not _ENABLED:
            return 0.0, 0.0
        pull = self._loop.position_gain * self._torque_per_current  # [Nm/count]
        return pull * COUNTS_PER_RADIAN, pull * (self._interpolator.value - self.position)

    # The power stage.

    def _enter(self, state: DriveState) -> None:
        self.state, self.statusword = state, STATUSWORDS[state]  # 0x6041
        powered = state in (DriveState.OPERATION_ENABLED, DriveState.QUICK_STOP_ACTIVE)
        if state is DriveState.QUICK_STOP_ACTIVE:
            self._braking = round(self._parameters.quick_stop_time / TICK)
        else:
            self._loop.reset()
            self._interpolator.hold(self.shaft.position())
        if not powered:
            self.shaft.turn(0.0)
            self._releasing = self._parameters.brake_release / TICK
        self._use_brake(powered=powered)

    def _release_brake(self) -> None:
        self._releasing -= 1.0
        self._use_brake(powered=True)

    def _use_brake(self, *, powered: bool) -> None:
        if self._parameters.brake:
            self.shaft.brake(engaged=not powered or self._releasing > 0.0)

    def _follow(self, error: float) -> None:
        """Turn towards the demand, which is `error` [counts] away."""
        loop = self._loop
        if loop.gains is not self.gains.active:
            loop.use(self.gains.active)
        current = loop.current(error, self._interpolator.speed, self.velocity)
        if abs(error) > self._position_limit:
            self.raise_error(DriveError.POSITION_ERROR)
        elif abs(loop.velocity_error) > self._velocity_limit:
            self.raise_error(DriveError.VELOCITY_ERROR)
        else:
            self.shaft.turn(current * self._torque_per_current)

    def _stop(self) -> None:
        self._loop.use(self.gains.active)
        self.shaft.turn(self._loop.brake(self.velocity) * self._torque_per_current)
        self._braking -= 1
        if self._braking <= 0:
            self._enter(DriveState.SWITCH_ON_DISABLED)


class DriveShaft(MountedEncoder):
    """A mounted encoder in whole counts, on a shaft with a holding brake."""

    __slots__ = ("_brake",)

    def __init__(self, plant: Plant, joint: int, mounting: Mounting) -> None:
        super().__init__(plant, joint, mounting, COUNTS_PER_RADIAN)
        self._brake = False

    def position(self) -> int:
        """Return the encoder position [counts]."""
        return round(self._angles[self.joint] * self._scale + self._offset)

    def measure(self) -> tuple[int, int]:
        """Return position [counts] and speed [counts/s].

        The speed is in whole counts too (the motor's encoder is finer; assumed).
        """
        joint, scale = self.joint, self._scale
        return round(self._angles[joint] * scale + self._offset), round(self._speeds[joint] * scale)

    def forget_turns(self) -> None:
        """Measure the angle within one turn only, from now on (assumed: from 0 up)."""
        self._offset -= self.position() // _TURN * _TURN

    def brake(self, *, engaged: bool) -> None:
        """Engage or release the holding brake."""
        if engaged != self._brake:
            self._brake = engaged
            self._plant.set_brake(self.joint, engaged=engaged)
