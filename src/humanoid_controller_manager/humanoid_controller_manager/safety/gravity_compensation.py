"""Add a gravity compensation to the commands of a controller."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from humanoid_control_common.clamping import clamp
from humanoid_control_common.errors import ConfigError
from humanoid_control_common.robot.joints import FloatArray, JointLimits
from humanoid_control_common.robot.mit_interface import (
    COMMAND_INTERFACES,
    Capability,
    JointCommand,
    JointState,
)
from humanoid_controller_manager.hardware.hardware_group import HardwareGroup
from humanoid_controller_manager.hardware.urdf import RobotDescription
from humanoid_controller_manager.safety.limit_stage import LEAST_STIFFNESS
from humanoid_motion.dynamics.payload import Payload, replaced

if TYPE_CHECKING:  # it imports MuJoCo, which takes 0.3 s
    from humanoid_motion.dynamics.gravity_model import GravityModel

LARGEST_BIAS: Final = 1.0  # [rad]; an eRob faults at 2.5 rad (assumed, confirm on hardware)
LARGEST_PAYLOAD: Final = 3.0  # [kg]: two of Prime's arms; the joints' limits may permit less
RISE: Final = 1.0  # [s] in which the compensation may change by a joint's effort limit
_SAME: Final = 1e-6  # [Nm] a compensation that much smaller than wanted is rounded, not limited


def gravity_compensation(
    description: RobotDescription, hardware: HardwareGroup, largest_bias: float, heaviest: float
) -> "GravityCompensation | str":
    """Return the compensation for a robot; why there is none if its masses are unusable.

    `largest_bias`: of a position [rad]. `heaviest`: of the payloads [kg].
    """
    from humanoid_motion.dynamics.gravity_model import GravityModel

    try:
        model = GravityModel(description.urdf, description.joints.names)
    except ConfigError as error:
        return str(error)
    bears_weight = np.ones(len(description.joints), dtype=np.bool_)
    for member in hardware.members:
        bears_weight[member.rows] = member.component.bears_weight
    joints = Joints(
        hardware.capabilities[COMMAND_INTERFACES.index("effort")] == Capability.PER_TICK,
        hardware.torque_efficiency,
        bears_weight,
    )
    return GravityCompensation(
        model,
        description.limits,
        joints,
        largest_bias=largest_bias,
        largest_payload=heaviest,
    )


@dataclass(frozen=True, slots=True)
class Joints:
    """Facts of the joints for the compensation, (n,) each."""

    takes_effort: NDArray[np.bool_]  # effort acts in every tick
    efficiency: FloatArray  # realized / nominal torque of the others
    bears_weight: NDArray[np.bool_]  # gravity loads them: not those of a mock


class GravityCompensation:
    """Adds the torque that holds the robot at its measured pose to a limited command.

    Where effort acts in every tick it is added to the effort, elsewhere as a bias of the position:
    torque / (stiffness x efficiency), at most `largest_bias`. The torque changes by no more than a
    joint's effort limit in RISE, so it never steps; only the end of a mode removes it at once. The
    limits of the limit stage hold for the sum: the target stays in the joint's range and within
    effort limit / stiffness of the joint, and all torques together within the effort limit. A joint
    with a mocked one in its chain gets none.

    Args:
        largest_bias: [rad].
        largest_payload: [kg].
    """

    def __init__(
        self,
        model: "GravityModel",
        limits: JointLimits,
        joints: Joints,
        *,
        largest_bias: float,
        largest_payload: float,
    ) -> None:
        count = len(joints.efficiency)
        self._model, self._limits = model, limits
        self._takes_effort, self.efficiency = joints.takes_effort, joints.efficiency
        mocked = ~joints.bears_weight
        # Their weight is unknown: it depends on angles that nobody measures.
        self.unknown = joints.bears_weight & model.in_chain_with(mocked)
        self._bears_weight = joints.bears_weight & ~self.unknown
        self._largest_bias, self._largest_payload = largest_bias, largest_payload
        self.payloads: tuple[Payload, ...] = ()  # a whole value: read by any thread
        # In the latest tick, (2, n): added to the position [rad], and the torque of it, or that was
        # added to the effort [Nm].
        self.added: FloatArray = np.zeros((2, count))
        self.limited: NDArray[np.int64] = np.zeros((1, count), dtype=np.int64)  # ticks, by joint
        self._torque = np.zeros(count)  # [Nm] before the limits of the sum
        self._sum = JointCommand(count)

    def carry(self, payload: Payload) -> None:
        """Take `payload` into account from the next tick on. Called by one thread, not the loop's.

        Raises ConfigError for an unknown link and one that is too heavy.
        """
        self.payloads = replaced(self.payloads, self._model.checked(payload, self._largest_payload))

    def another_model(self) -> "GravityModel":
        """Return the robot's masses for another thread."""
        return self._model.another()

    def restart(self) -> None:
        """Begin a mode: without compensation."""
        self._torque.fill(0.0)

    def apply(
        self,
        state: JointState,
        command: JointCommand,
        wanted: NDArray[np.bool_],
        stiffness: FloatArray,
        effort_limit: FloatArray,
        period: float,
    ) -> JointCommand:
        """Return `command`, or what to write in its place until the next call.

        `wanted`: joints to hold up, (n,). `stiffness`: that acts, nominal [Nm/rad] (n,).
        `effort_limit`: [Nm] (n,). `period`: [s] since the last call.
        """
        if not (np.count_nonzero(wanted) or np.count_nonzero(self._torque)):
            self.added.fill(0.0)
            return command
        # Without stiffness a drive's target follows the joint; a bias begins anew after that.
        acts = self._takes_effort | (stiffness > 0.0)
        np.copyto(self._torque, 0.0, where=~acts)
        self._advance(state.position, wanted & acts & self._bears_weight, effort_limit, period)
        summed = self._sum
        summed.array[:] = command.array
        by_effort = self._add_effort(state, summed, effort_limit)
        by_bias = self._add_bias(state, summed, stiffness, effort_limit)
        self.added[0] = summed.position - command.position
        self.added[1] = np.where(self._takes_effort, by_effort, by_bias)
        self.limited[0] += np.abs(self._torque) > np.abs(self.added[1]) + _SAME
        self.limited[0] += wanted & self.unknown
        return summed

    # Inside.

    def _advance(
        self,
        position: FloatArray,
        held: NDArray[np.bool_],
        effort_limit: FloatArray,
        period: float,
    ) -> None:
        torque = np.where(held, self._model.torque(position, self.payloads), 0.0)
        if not np.isfinite(torque).all():
            return  # a joint without measurement: the loop leaves the mode for that
        step = self._limits.effort * (period / RISE)
        change = clamp(torque, -effort_limit, effort_limit) - self._torque
        self._torque += clamp(change, -step, step)

    def _add_effort(
        self, state: JointState, command: JointCommand, effort_limit: FloatArray
    ) -> FloatArray:
        """Add to the effort; return what was added [Nm] (n,)."""
        stiffness, damping = command.array[3:]
        driving = stiffness * (command.position - state.position) + damping * command.velocity
        driving += command.effort
        braking = -damping * state.velocity
        low = np.minimum(np.minimum(-effort_limit - braking, 0.0), driving)
        high = np.maximum(np.maximum(effort_limit - braking, 0.0), driving)
        added: FloatArray = clamp(driving + self._torque, low, high) - driving
        command.effort += np.where(self._takes_effort, added, 0.0)
        return added

    def _add_bias(
        self,
        state: JointState,
        command: JointCommand,
        stiffness: FloatArray,
        effort_limit: FloatArray,
    ) -> FloatArray:
        """Add to the position; return the torque of it [Nm] (n,)."""
        measured, target = state.position, command.position
        real = np.maximum(stiffness * self.efficiency, LEAST_STIFFNESS)
        reach = effort_limit / np.maximum(stiffness, LEAST_STIFFNESS)
        bias = clamp(self._torque / real, -self._largest_bias, self._largest_bias)
        low = np.maximum(np.minimum(self._limits.target_lower, measured), measured - reach)
        high = np.minimum(np.maximum(self._limits.target_upper, measured), measured + reach)
        biased = clamp(target + bias, np.minimum(low, target), np.maximum(high, target))
        biases = ~self._takes_effort & (self._torque != 0.0)
        added = np.where(biases, biased - target, 0.0)
        command.position += added
        torque: FloatArray = added * real
        return torque
