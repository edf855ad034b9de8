"""Counts commands that a joint cannot act on, for diagnostics."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.robot.joints import FloatArray
from humanoid_control_common.robot.mit_interface import COMMAND_INTERFACES, Capability, JointCommand
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.hardware_component import CapabilityArray

# Rows of `IneffectiveCommands.counts`; the position acts in every tick on all actuators.
INTERFACES: Final = COMMAND_INTERFACES[1:]
STIFFNESS: Final = INTERFACES.index("stiffness")
# Relative difference of gains that counts as none: a command may have been float32.
SAME: Final = 1e-3
LEAST: Final = 1e-6  # [rad/s, Nm, Nm/rad, Nm s/rad] counts as zero


class IneffectiveCommands:
    """Counts the ticks in which a part of the command cannot act.

    That is a velocity or an effort where it never acts, and gains other than the mode's where they
    are set per mode. Stiffness 0 does act there: the target follows the joint then. Gains are not
    compared where those of the mode are unknown.

    `counts`, shape (4, n), counts ticks (rows: `INTERFACES`).

    Args:
        capabilities: of all joints, shape (5, n).
        mode_gains: of all modes and joints, shape (modes, 2, n); NaN where not known.
    """

    def __init__(self, capabilities: CapabilityArray, mode_gains: FloatArray) -> None:
        count = capabilities.shape[1]
        self.counts: NDArray[np.int64] = np.zeros((len(INTERFACES), count), dtype=np.int64)
        self._acts = capabilities[1:] == Capability.PER_TICK
        self._any = not self._acts.all()
        self._mode_gains = mode_gains
        self._expected = np.zeros((len(INTERFACES), count))
        self._tolerance = np.full((len(INTERFACES), count), np.inf)
        self._difference = np.zeros((len(INTERFACES), count))
        self._differs = np.zeros((len(INTERFACES), count), dtype=np.bool_)
        self._judges = False

    def mode_begins(self, mode: Mode, *, preparing: bool) -> None:
        """Expect the gains of `mode`; while it is `preparing` those before it still act."""
        self._judges = self._any and not preparing
        if not self._judges:
            return
        gains = self._mode_gains[mode]
        judged = ~self._acts
        judged[STIFFNESS:] &= np.isfinite(gains)
        self._expected[STIFFNESS:] = np.where(judged[STIFFNESS:], gains, 0.0)
        self._tolerance[:] = np.where(judged, SAME * self._expected + LEAST, np.inf)

    def count(self, command: JointCommand) -> None:
        """Count the parts of `command` that cannot act."""
        if not self._judges:
            return
        np.subtract(command.array[1:], self._expected, out=self._difference)
        np.absolute(self._difference, out=self._difference)
        np.greater(self._difference, self._tolerance, out=self._differs)
        if np.count_nonzero(self._differs):
            self._differs[STIFFNESS] &= command.stiffness != 0.0
            self.counts += self._differs
