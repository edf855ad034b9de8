"""REMOTE: commands of another program, checked before they are believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

import numpy as np
from pydantic import Field

from humanoid_control_common.config import StrictModel
from humanoid_control_common.errors import ControllerError
from humanoid_control_common.joints import FloatArray, JointSet
from humanoid_control_common.modes import Mode
from humanoid_control_common.surface import (
    COMMAND_INTERFACES,
    Capability,
    JointCommand,
    JointState,
)
from humanoid_controller_manager.controller import Controller, ModeGains, RobotFacts
from humanoid_controller_manager.mailbox import Mailbox


class RemoteParameters(StrictModel):
    """Parameters of the REMOTE controller."""

    stiffness: float = Field(gt=0.0, allow_inf_nan=False)  # [Nm/rad] of the pose held at entry
    damping: float = Field(gt=0.0, allow_inf_nan=False)  # [Nm*s/rad] of the pose held at entry
    command_timeout: float = Field(gt=0.0, allow_inf_nan=False)  # [s] since arrival
    # Stiffness 0 and the damping above; gains 0; or the last command without its motion.
    on_stale: Literal["damp", "passive", "hold"] = "damp"


# The next command is followed again: no fault, but nothing an operator could guess.
_STALE: Final = {
    "damp": "stale commands: the joints are damped until the next one",
    "passive": "stale commands: the joints are passive until the next one",
    "hold": "stale commands: the pose is held until the next one",
}


NEVER_COMMANDED: Final = "never commanded: the pose of its start is held"
FOLLOWING: Final = "follows commands"


@dataclass(frozen=True, slots=True)
class RemoteCommand:
    """A checked command, shape (5, n) in joint order, and when it arrived [s]."""

    array: FloatArray
    arrival: float


def checked_command(
    joints: JointSet,
    names: Sequence[str],
    values: Mapping[str, Sequence[float]],
    arrival: float,
) -> RemoteCommand:
    """A command as it came in, if it can be trusted.

    Args:
        joints: the robot's joints.
        names: must be exactly those, in their order.
        values: the five interfaces, each as long as `names`.
        arrival: the loop's time [s] at which it arrived; the sender's clock is never looked at.

    Raises ControllerError saying what is wrong with it.
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
    command = JointCommand(
        len(joints), np.array([values[name] for name in COMMAND_INTERFACES], dtype=np.float64)
    )
    if not command.is_valid():
        bad = joints.named(command.invalid_joints())
        raise ControllerError(f"not finite, absurdly large, or a negative gain: {bad}")
    return RemoteCommand(command.array, arrival)


def _joint_mismatch(joints: JointSet, names: Sequence[str]) -> str:
    if len(names) > 2 * len(joints):  # a message may name any number: don't compare them all
        return f"{len(names)} joint names, expected {len(joints)}"
    unknown = [name for name in names if name not in joints.names]
    missing = [name for name in joints.names if name not in names]
    repeated = sorted({name for name in names if list(names).count(name) > 1})
    if unknown or missing or repeated:
        parts = (("unknown", unknown), ("missing", missing), ("repeated", repeated))
        return "joints " + "; ".join(f"{what}: {', '.join(who)}" for what, who in parts if who)
    return f"joints in another order; expected {', '.join(joints.names)}"


class RemotePolicyController(Controller):
    """Follows the latest command; without a fresh one it damps, goes passive or holds.

    Until the first command the pose measured at entry is held with the mode's gains. From the pose
    held to the first command the target moves no faster than the joints' velocity limits, as it
    does from every command to the next.
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
        self._inbox: Mailbox[RemoteCommand] = Mailbox()
        self._target = JointCommand(len(robot.joints))
        self._arrival: float | None = None  # of the latest command; None before the first
        self._stale = False

    def receive(self, command: RemoteCommand) -> None:
        """Leave a command for the next tick; may be called from any thread."""
        self._inbox.put(command)

    @property
    def remark(self) -> str:
        """See Controller: whether the stream of commands has broken off."""
        return _STALE[self._parameters.on_stale] if self._stale else ""

    @property
    def doing(self) -> str:
        """What it does while it is in charge, in words. From any thread."""
        return self.remark or (NEVER_COMMANDED if self._arrival is None else FOLLOWING)

    def on_activate(self, state: JointState, command: JointCommand, now: float) -> None:
        """See Controller. Commands that came before are forgotten."""
        self._inbox.take()
        self._arrival = None
        self._stale = False
        self._target.array.fill(0.0)
        self._target.position[:] = state.position
        self._target.stiffness[:] = self._parameters.stiffness
        self._target.damping[:] = self._parameters.damping
        self._position = state.position.copy()

    def update(self, state: JointState, command: JointCommand, now: float, period: float) -> None:
        """See Controller."""
        received = self._inbox.take()
        if received is not None:
            self._target.array[:] = received.array
            # Beyond the range it would run away, and have to come all the way back.
            np.clip(
                received.array[0],
                self._limits.target_lower,
                self._limits.target_upper,
                out=self._target.position,
            )
            self._arrival = received.arrival
        self._stale = (
            self._arrival is not None and now - self._arrival > self._parameters.command_timeout
        )
        if self._stale:
            self._make_stale(state)
        step = self._limits.velocity * period
        self._position += np.clip(self._target.position - self._position, -step, step)
        command.array[:] = self._target.array
        command.position[:] = self._position

    @property
    def gains(self) -> ModeGains:
        """See Controller."""
        return self._gains

    def _make_stale(self, state: JointState) -> None:
        """Nobody vouches for motion: no velocity, no effort and, unless held, no stiffness."""
        self._target.array[1:3] = 0.0
        if self._parameters.on_stale != "hold":
            self._target.stiffness[:] = 0.0
            damps = self._parameters.on_stale == "damp"
            self._target.damping[:] = self._parameters.damping if damps else 0.0
            # Where the next command takes over from.
            self._target.position[:] = state.position
            self._position[:] = state.position
        else:
            self._target.position[:] = self._position
