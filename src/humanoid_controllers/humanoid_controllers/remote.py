"""REMOTE: follows the checked commands of another program."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import numpy as np
from pydantic import Field

from humanoid_control_common.clamping import clamp
from humanoid_control_common.configuration.config import StrictModel
from humanoid_control_common.errors import ControllerError
from humanoid_control_common.robot.joints import FloatArray, JointSet
from humanoid_control_common.robot.mit_interface import (
    COMMAND_INTERFACES,
    Capability,
    JointCommand,
    JointState,
)
from humanoid_control_common.rules.modes import Mode
from humanoid_controller_manager.controller import Controller, ModeGains, RobotFacts
from humanoid_controller_manager.loop.latest_value import LatestValue


class RemoteParameters(StrictModel):
    """Parameters of the REMOTE controller."""

    stiffness: float = Field(gt=0.0, description="Of the pose held at entry [Nm/rad].")
    damping: float = Field(gt=0.0, description="Of the pose held at entry [Nm*s/rad].")
    command_timeout: float = Field(
        gt=0.0, description="Age of the latest command that is stale [s]."
    )
    on_stale: Literal["damp", "passive", "hold"] = Field(
        default="damp",
        description="When commands are stale: stiffness 0 and the damping above; gains 0; or the "
        "pose reached, without velocity and effort.",
    )


# Remarks while commands are stale. No fault: the next command is followed again.
_STALE: Final = {
    "damp": "stale commands: the joints are damped until the next one",
    "passive": "stale commands: the joints are passive until the next one",
    "hold": "stale commands: the pose is held until the next one",
}


NEVER_COMMANDED: Final = "never commanded: the pose of its start is held"
FOLLOWING: Final = "follows commands"


@dataclass(frozen=True, slots=True)
class RemoteCommand:
    """A checked command, shape (5, n) in joint order, and its arrival [s]."""

    array: FloatArray
    arrival: float


def command_array(
    joints: JointSet, names: Sequence[str], values: Mapping[str, Sequence[float]]
) -> FloatArray:
    """Return the values of a received command, shape (5, n) in joint order.

    Args:
        joints: the robot's joints.
        names: must be exactly those, in their order.
        values: the five interfaces, each as long as `names`.

    Raises ControllerError with the difference.
    """
    if tuple(names) != joints.names:
        raise ControllerError(_joint_mismatch(joints, names))
    wrong = [
        f"{name} ({len(values[name])})"
        for name in COMMAND_INTERFACES
        if len(values[name]) != len(joints)
    ]
    if wrong:
        raise ControllerError(f"expected {len(joints)} values each, found: {', '.join(wrong)}")
    return np.array([values[name] for name in COMMAND_INTERFACES], dtype=np.float64)


def checked_command(joints: JointSet, array: FloatArray, arrival: float) -> RemoteCommand:
    """Return the command of `array`, shape (5, n) in joint order, after checking its values.

    `arrival` is the loop's time [s]; the sender's clock is not used.

    Raises ControllerError with the joints of wrong values.
    """
    command = JointCommand(len(joints), array)
    if not command.is_valid():
        bad = joints.named(command.invalid_joints())
        raise ControllerError(f"not finite, absurdly large, or a negative gain: {bad}")
    return RemoteCommand(command.array, arrival)


def _joint_mismatch(joints: JointSet, names: Sequence[str]) -> str:
    if len(names) > 2 * len(joints):  # a message may contain any number: do not compare them all
        return f"{len(names)} joint names, expected {len(joints)}"
    unknown = [name for name in names if name not in joints.names]
    missing = [name for name in joints.names if name not in names]
    repeated = sorted({name for name in names if list(names).count(name) > 1})
    if unknown or missing or repeated:
        parts = (("unknown", unknown), ("missing", missing), ("repeated", repeated))
        return "joints " + "; ".join(f"{what}: {', '.join(them)}" for what, them in parts if them)
    return f"joints in another order; expected {', '.join(joints.names)}"


class RemotePolicyController(Controller):
    """Follows the latest command; without a fresh one it damps, goes passive or holds.

    Until the first command it holds the pose measured at activation with the mode's gains. From
    there to the first command, and from each command to the next, the target moves no faster than
    the joints' velocity limits.
    """

    Parameters = RemoteParameters
    mode: ClassVar[Mode] = Mode.REMOTE
    needs: ClassVar[Mapping[str, Capability]] = {
        "position": Capability.PER_TICK,
        "stiffness": Capability.PER_MODE,
        "damping": Capability.PER_MODE,
    }

    def on_configure(self, parameters: RemoteParameters, robot: RobotFacts) -> None:
        """See Controller."""
        self.joints = robot.joints
        self._parameters = parameters
        self._gains = ModeGains(parameters.stiffness, parameters.damping)
        self._limits = robot.limits
        self._received: LatestValue[RemoteCommand] = LatestValue()
        self._target = JointCommand(len(robot.joints))
        self._arrival: float | None = None  # of the latest command; None before the first
        self._stale = False

    def receive(self, command: RemoteCommand) -> None:
        """Store a command for the next tick. Called by any thread."""
        self._received.put(command)

    @property
    def remark(self) -> str:
        """See Controller: set while commands are stale."""
        return _STALE[self._parameters.on_stale] if self._stale else ""

    @property
    def doing(self) -> str:
        """The present behaviour while in charge, in words. Read by any thread."""
        return self.remark or (NEVER_COMMANDED if self._arrival is None else FOLLOWING)

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """See Controller. Earlier commands are dropped."""
        self._received.take()
        self._arrival = None
        self._stale = False
        self._target.array.fill(0.0)
        self._target.position[:] = state.position
        self._target.stiffness[:] = self._parameters.stiffness
        self._target.damping[:] = self._parameters.damping
        self._position = state.position.copy()

    def on_held_back(self, target: FloatArray, why: str) -> None:
        """See Controller. The motion to the target begins there: it can reverse at once."""
        self._position[:] = target

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """See Controller."""
        received = self._received.take()
        if received is not None:
            self._target.array[:] = received.array
            # A target beyond the range would have to return to it before the joint can follow.
            lower, upper = self._limits.target_lower, self._limits.target_upper
            clamp(received.array[0], lower, upper, self._target.position)
            self._arrival = received.arrival
        self._stale = (
            self._arrival is not None and now - self._arrival > self._parameters.command_timeout
        )
        if self._stale:
            self._make_stale(state)
        step = self._limits.velocity * period
        self._position += clamp(self._target.position - self._position, -step, step)
        command.array[:] = self._target.array
        command.position[:] = self._position

    @property
    def gains(self) -> ModeGains:
        """See Controller."""
        return self._gains

    def _make_stale(self, state: JointState) -> None:
        """Remove velocity, effort and, unless the pose is held, stiffness from the target."""
        self._target.array[1:3] = 0.0
        if self._parameters.on_stale != "hold":
            self._target.stiffness[:] = 0.0
            damps = self._parameters.on_stale == "damp"
            self._target.damping[:] = self._parameters.damping if damps else 0.0
            # The next command starts from here.
            self._target.position[:] = state.position
            self._position[:] = state.position
        else:
            self._target.position[:] = self._position
