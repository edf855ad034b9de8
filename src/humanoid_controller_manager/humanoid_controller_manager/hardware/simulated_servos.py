"""Joints that act on commands like the robot's own, for all simulated components."""

import numpy as np

from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import COMMAND_INTERFACES, Capability, JointCommand
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware.mode_gains import mode_gains
from humanoid_controller_manager.hardware_component import (
    CapabilityArray,
    HardwareComponent,
    HardwareInfo,
    uniform_capabilities,
)

POSITION, VELOCITY, EFFORT, STIFFNESS, DAMPING = range(len(COMMAND_INTERFACES))


class SimulatedServos:
    """The parts of a command that act on the joints of a simulated block.

    A joint with `mode_stiffness` and `mode_damping` acts like a servo whose gains are set per mode,
    such as an eRob: its position acts in every tick, velocity and effort never. Its gains are those
    of the mode, written between two ticks and confirmed by the next measurement. Its target follows
    the joint until then, and while the commanded stiffness is 0. All other joints take all five
    interfaces in every tick.

    Raises ConfigError for wrong gains, naming block and joint.
    """

    def __init__(self, info: HardwareInfo) -> None:
        count = len(info.joints)
        self._table = np.zeros((len(Mode), 2, count))
        self._is_servo = np.zeros(count, dtype=np.bool_)
        for i, joint in enumerate(info.joints):
            gains = mode_gains(joint.parameters, f"{info.place}: joint '{joint.name}'")
            if gains is not None:
                self._table[:, :, i] = gains
                self._is_servo[i] = True
        self._any = bool(self._is_servo.any())
        self._gains = np.zeros((2, count))  # of the servos now
        self._acting = JointCommand(count)
        self._follows = np.zeros(count, dtype=np.bool_)
        self._mode: Mode | None = None  # whose gains are being written; None: they are confirmed
        self._written = False
        self._realized: FloatArray | None = None
        self.capabilities: CapabilityArray = uniform_capabilities(count, Capability.PER_TICK)
        self.capabilities[[VELOCITY, EFFORT]] -= 2 * self._is_servo.astype(np.int8)
        self.capabilities[[STIFFNESS, DAMPING]] -= self._is_servo.astype(np.int8)

    def mode_changed(self, mode: Mode) -> None:
        """Begin to write the gains of `mode`."""
        if self._any:
            self._mode, self._written = mode, False

    @property
    def confirmed(self) -> bool:
        """True if the servos have the gains of the mode in force."""
        return self._mode is None

    @property
    def realized_stiffness(self) -> FloatArray | None:
        """Stiffness [Nm/rad] (n,) of the servos, NaN elsewhere; None where there are none."""
        return self._realized

    def read(self) -> None:
        """Confirm the gains that were written before this measurement."""
        if self._mode is not None and self._written:
            self._gains[:] = self._table[self._mode]
            self._realized = np.where(self._is_servo, self._gains[0], np.nan)
            self._mode = None

    def acting(self, command: JointCommand, measured: FloatArray) -> JointCommand:
        """Return what acts of `command` on joints at `measured` [rad], until the next call."""
        if not self._any:
            return command
        acting, servo, follows = self._acting, self._is_servo, self._follows
        self._written = True
        acting.array[:] = command.array
        np.copyto(acting.array[VELOCITY : EFFORT + 1], 0.0, where=servo)
        np.copyto(acting.array[STIFFNESS:], self._gains, where=servo)
        if self._mode is None:
            np.equal(command.stiffness, 0.0, out=follows)
            np.logical_and(follows, servo, out=follows)
        else:
            follows[:] = servo
        np.copyto(acting.position, measured, where=follows)
        return acting


class SimulatedSystem(HardwareComponent):
    """Base of simulated components: its joints act on commands as `servos` define.

    `servos` belong to the loop's thread, from `on_configure` on. The derived `read` calls theirs,
    and the derived `write` applies the result of their `acting`.
    """

    servos: SimulatedServos

    def on_configure(self, info: HardwareInfo) -> None:
        """See HardwareComponent. Raises ConfigError for wrong gains."""
        self.servos = SimulatedServos(info)
        self._effort_limit = info.limits.effort

    def capabilities(self) -> CapabilityArray:
        """See HardwareComponent."""
        return self.servos.capabilities

    def mode_changed(self, mode: Mode, switch_number: int) -> None:
        """See HardwareComponent."""
        self.servos.mode_changed(mode)

    def impedance_confirmed(self) -> bool:
        """See HardwareComponent."""
        return self.servos.confirmed

    def realized_stiffness(self) -> FloatArray | None:
        """See HardwareComponent."""
        return self.servos.realized_stiffness

    def effort_limit(self, position: FloatArray) -> FloatArray:
        """See HardwareComponent: the URDF's limits."""
        return self._effort_limit

    def watchdog_times(self) -> None:
        """See HardwareComponent: there is no actuator."""
